"""The fifteen tools of the investigative loop: questions, notes and challenges."""
