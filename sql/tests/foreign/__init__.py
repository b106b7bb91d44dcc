"""Foreign parties: programs that call `yunti sql`, and services that it calls."""
