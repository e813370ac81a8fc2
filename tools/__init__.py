"""What works on the book from outside: its environment, its notebooks, its build and its checks."""
