module backupverifier

go 1.21
