module seatinventory

go 1.22
