"""Operations in one form: iterations, and the elements and addresses that they access."""
