module video-index

go 1.21
