package ferry;

record Position(double lat, double lon, double eta) {
    static Position at(int ferry, long ms) {
        double t = ms / 60_000.0 + ferry;
        double lat = 59 + Math.sin(t / 30) * 0.8, lon = 18 + Math.cos(t / 30) * 2.1;
        return new Position(lat, lon, Math.hypot(lat - 59.3, lon - 18.1) * 111 / 32);
    }
}
