module calendarreminder

go 1.21
