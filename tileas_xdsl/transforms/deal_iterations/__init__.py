"""Parts of `tileas-deal-iterations`: what each CTA computes."""
