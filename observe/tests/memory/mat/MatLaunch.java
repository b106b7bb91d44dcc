import java.io.File;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/**
 * A start of Eclipse MAT without its window: the framework with the bundles of MAT's folder {@code plugins}, and a
 * bundle made of MatObjects.class, whose main method runs.
 *
 * <p>Arguments: PLUGINS CLASSES WORKSPACE, then the arguments of MatObjects.
 */
public final class MatLaunch {
    private MatLaunch() {}

    public static void main(String[] args) throws Exception {
        Path workspace = Path.of(args[2]);
        Map<String, String> settings = new HashMap<>();
        settings.put("org.osgi.framework.storage", workspace.resolve("framework").toString());
        settings.put("org.osgi.framework.storage.clean", "onFirstInit");
        settings.put("osgi.instance.area", workspace.resolve("instance").toUri().toString());
        settings.put("osgi.parentClassloader", "ext");
        Framework framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(settings);
        framework.start();
        List<Bundle> bundles = new ArrayList<>();
        File[] files = new File(args[0]).listFiles();
        for (File file : files) {
            if (isNeeded(file.getName())) {
                bundles.add(framework.getBundleContext().installBundle("reference:" + file.toURI()));
            }
        }
        Path own = workspace.resolve("objects.jar");
        pack(Path.of(args[1]), own);
        Bundle objects = framework.getBundleContext().installBundle(own.toUri().toString());
        for (Bundle bundle : bundles) {
            try {
                bundle.start(Bundle.START_ACTIVATION_POLICY);
            } catch (BundleException e) {
                System.err.println("not started: " + bundle.getSymbolicName() + ": " + e.getMessage());
            }
        }
        List<String> rest = List.of(args).subList(3, args.length);
        try {
            objects.loadClass("MatObjects").getMethod("main", String[].class)
                    .invoke(null, (Object) rest.toArray(new String[0]));
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace();
            System.exit(1);
        }
        framework.stop();
        framework.waitForStop(10_000);
        System.exit(0);
    }

    /** Returns true for the bundles that parse dumps; those of the window would need a display. */
    private static boolean isNeeded(String name) {
        boolean isPart = name.matches("org\\.eclipse\\.mat\\.(api|parser|hprof|report)_.*")
                || name.matches("(org\\.eclipse\\.(core|equinox)|org\\.osgi|com\\.(ibm\\.icu|sun\\.jna)|org\\.apache\\.felix)\\..*")
                || name.startsWith("icu4j");
        return isPart && name.endsWith(".jar") && !name.contains(".source_") && !name.contains("launcher");
    }

    private static void pack(Path classes, Path jar) throws Exception {
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.putValue("Bundle-ManifestVersion", "2");
        main.putValue("Bundle-SymbolicName", "yunti.mat.objects");
        main.putValue("Bundle-Version", "1.0.0");
        main.putValue("Require-Bundle", "org.eclipse.mat.api, org.eclipse.mat.parser, org.eclipse.mat.hprof");
        try (OutputStream out = Files.newOutputStream(jar); JarOutputStream zip = new JarOutputStream(out, manifest)) {
            zip.putNextEntry(new JarEntry("MatObjects.class"));
            zip.write(Files.readAllBytes(classes.resolve("MatObjects.class")));
            zip.closeEntry();
        }
    }
}
