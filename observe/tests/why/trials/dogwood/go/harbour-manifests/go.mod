module harbourmanifests

go 1.22
