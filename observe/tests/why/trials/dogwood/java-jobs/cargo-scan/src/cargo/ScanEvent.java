package cargo;

record ScanEvent(String owner, int serial, int depot, long at) { }
