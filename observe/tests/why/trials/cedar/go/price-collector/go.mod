module pricecollector

go 1.21
