module geo-tiles

go 1.21
