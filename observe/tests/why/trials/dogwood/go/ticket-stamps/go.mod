module ticketstamps

go 1.22
