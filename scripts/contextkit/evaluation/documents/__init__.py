"""What is asked, answered and marked; the arithmetic of the marks."""
