package cargo;

import java.util.*;

class ManifestIndex {
    private final Map<ContainerKey, String> byContainer = new HashMap<>();
    private final boolean serials;

    ManifestIndex(boolean serials) {
        this.serials = serials;
    }

    private ContainerKey key(String owner, int serial, int depot) {
        return serials ? new SerialKey(owner, serial, depot) : new ContainerKey(owner, serial, depot);
    }

    void add(String owner, int serial, int depot, String manifest) {
        byContainer.put(key(owner, serial, depot), manifest);
    }

    Optional<String> find(ScanEvent e) {
        return Optional.ofNullable(byContainer.get(key(e.owner(), e.serial(), e.depot())));
    }
}
