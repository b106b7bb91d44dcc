module photoindex

go 1.22
