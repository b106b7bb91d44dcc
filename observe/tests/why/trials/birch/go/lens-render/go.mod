module lens-render

go 1.21
