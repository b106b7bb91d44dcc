package cargo;

import java.util.Objects;

class ContainerKey {
    final String owner;
    final int serial;
    final int depot;

    ContainerKey(String owner, int serial, int depot) {
        this.owner = owner;
        this.serial = serial;
        this.depot = depot;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof ContainerKey k && serial == k.serial && depot == k.depot && owner.equals(k.owner);
    }

    @Override
    public int hashCode() {
        return Objects.hash(owner, depot);
    }
}

class SerialKey extends ContainerKey {
    SerialKey(String owner, int serial, int depot) {
        super(owner, serial, depot);
    }

    @Override
    public int hashCode() {
        return Objects.hash(owner, serial, depot);
    }
}
