module parking-meter

go 1.21
