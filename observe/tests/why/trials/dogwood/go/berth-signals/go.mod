module berthsignals

go 1.22
