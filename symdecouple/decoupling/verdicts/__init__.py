"""What is proved of the sets that a plan rests on."""
