module parcelquotes

go 1.22
