"""What integrates: closed-form flows of gradient fields."""
