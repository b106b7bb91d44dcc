import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.mat.snapshot.ISnapshot;
import org.eclipse.mat.snapshot.SnapshotFactory;
import org.eclipse.mat.snapshot.model.IClass;
import org.eclipse.mat.util.VoidProgressListener;

/**
 * Every object of a heap dump as Eclipse MAT computes it, in the format of observe/heap/examples/objects.rs.
 *
 * <p>The class is part of a bundle that {@link MatLaunch} makes and starts within MAT's own framework.
 */
public final class MatObjects {
    private MatObjects() {}

    /** Opens the dump, which lets MAT write its index files beside it, and writes OUT and OUT.classes, if any. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int i = 2; i < args.length; i++) {
            options.put(args[i], "true");
        }
        ISnapshot snapshot = SnapshotFactory.openSnapshot(new File(args[0]), options, new VoidProgressListener());
        if (!args[1].equals("-")) {
            writeObjects(snapshot, args[1]);
            writeClasses(snapshot, args[1] + ".classes");
        }
        SnapshotFactory.dispose(snapshot);
    }

    private static void writeObjects(ISnapshot snapshot, String out) throws Exception {
        int objects = snapshot.getSnapshotInfo().getNumberOfObjects();
        ByteBuffer record = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
        try (OutputStream file = new BufferedOutputStream(new FileOutputStream(out), 1 << 20)) {
            // MAT numbers objects by address.
            for (int id = 0; id < objects; id++) {
                int dominator = snapshot.getImmediateDominatorId(id);
                record.clear();
                record.putLong(snapshot.mapIdToAddress(id));
                record.putLong(snapshot.getClassOf(id).getObjectAddress());
                record.putLong(snapshot.getHeapSize(id));
                record.putLong(snapshot.getRetainedHeapSize(id));
                record.putLong(dominator < 0 ? -1 : snapshot.mapIdToAddress(dominator));
                file.write(record.array());
            }
        }
    }

    private static void writeClasses(ISnapshot snapshot, String out) throws Exception {
        Collection<IClass> all = snapshot.getClasses();
        List<IClass> classes = new ArrayList<>(all);
        classes.sort(Comparator.comparing(IClass::getObjectAddress, Long::compareUnsigned));
        try (PrintStream file = new PrintStream(new BufferedOutputStream(new FileOutputStream(out)), false, "UTF-8")) {
            for (IClass type : classes) {
                long bytes = snapshot.getHeapSize(type.getObjectIds());
                file.println("0x" + Long.toHexString(type.getObjectAddress())
                        + " 0x" + Long.toHexString(type.getClassLoaderAddress())
                        + " " + type.getNumberOfObjects() + " " + bytes + " " + type.getName());
            }
        }
    }
}
