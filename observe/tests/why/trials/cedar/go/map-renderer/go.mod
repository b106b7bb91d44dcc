module maprenderer

go 1.21
