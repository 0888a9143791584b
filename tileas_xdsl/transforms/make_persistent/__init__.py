"""Parts of `tileas-make-persistent`: which tile blocks a CTA takes."""
