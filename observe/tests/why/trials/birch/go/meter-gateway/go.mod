module meter-gateway

go 1.21
