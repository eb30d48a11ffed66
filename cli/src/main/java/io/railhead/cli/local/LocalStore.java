package io.railhead.cli.local;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A real S3 server, s3proxy, as its own process with its objects in memory. */
public record LocalStore(URI endpoint, Keys keys, Process process) {

    /** The store's only key pair, with which the gateway signs too. */
    public record Keys(String accessKey, String secretKey) {

        public Map<String, String> environment() {
            return Map.of("AWS_ACCESS_KEY_ID", accessKey, "AWS_SECRET_ACCESS_KEY", secretKey,
                    "AWS_REGION", "us-east-1");
        }
    }

    /**
     * Starts the store and waits until it responds.
     *
     * @param bytes the bytes that it will hold: an upload's parts and its object exist together for
     *            a moment
     */
    public static LocalStore start(Path jar, Keys keys, long bytes, Children children)
            throws IOException {
        if (!Files.isReadable(jar)) {
            throw new IOException(
                    "no store to start: " + jar + " is missing; build with ./railhead");
        }
        URI endpoint = URI.create("http://127.0.0.1:" + Loopback.freePort());
        Path properties = children.folder().resolve("store.properties");
        Files.write(properties,
                List.of("s3proxy.endpoint=" + endpoint, "s3proxy.authorization=aws-v2-or-v4",
                        "s3proxy.identity=" + keys.accessKey(),
                        "s3proxy.credential=" + keys.secretKey(),
                        "s3proxy.ignore-unknown-headers=true", "jclouds.provider=transient-nio2",
                        "jclouds.identity=unused", "jclouds.credential=unused",
                        "jclouds.filesystem.basedir=/"));
        long heapMib = 512 + 3 * (bytes >> 20);
        Process process = children.java("store",
                List.of("-Xmx" + heapMib + "m", "-jar", jar.toString(), "--properties",
                        properties.toString()),
                Map.of(), Redirect.appendTo(children.log("store").toFile()));
        Loopback.await("store", process, endpoint, status -> status > 0, Duration.ofMinutes(5),
                children);
        return new LocalStore(endpoint, keys, process);
    }
}
