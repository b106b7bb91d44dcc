module acme/resize

go 1.21.0
