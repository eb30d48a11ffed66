package io.railhead.cli.local;

import java.nio.file.Path;

/**
 * Places of this program's files, in a checkout that was built or in an installed folder. The
 * launcher knows the layout and passes it in system properties.
 *
 * @param home the checkout, or the installed folder
 * @param jars the class path's jars besides the program's own
 * @param store the S3 server that the demo, dev and benchmarks start
 */
public record Installation(Path home, Path jars, Path store) {

    public static Installation here() {
        Path home = Path.of(System.getProperty("railhead.home", ".")).toAbsolutePath().normalize();
        return new Installation(home, path("railhead.jars", home.resolve("cli/target/lib")),
                path("railhead.store", home.resolve("cli/target/s3proxy/s3proxy.jar")));
    }

    private static Path path(String property, Path otherwise) {
        return Path.of(System.getProperty(property, otherwise.toString()));
    }
}
