module journal-writer

go 1.21
