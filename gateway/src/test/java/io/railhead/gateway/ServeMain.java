package io.railhead.gateway;

import java.nio.file.Path;

/** What {@code railhead serve} does, as a process of its own for tests of its life. */
final class ServeMain {

    private ServeMain() {}

    public static void main(String[] arguments) {
        System.exit(new Serve(System.out, System.err).run(Path.of(arguments[0])));
    }
}
