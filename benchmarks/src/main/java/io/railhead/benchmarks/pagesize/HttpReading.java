package io.railhead.benchmarks.pagesize;

import io.railhead.gateway.Gateway;
import io.railhead.gateway.auth.CredentialStore;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A gateway, its store and a client in this process, speaking HTTP over loopback TCP. The client
 * keeps its connection and throws the bytes away. Every timed read must have been a hit.
 */
record HttpReading(Path folder, OneObjectStore store, CredentialStore credentials, Gateway gateway,
        SignedGets client, int rangeBytes) implements SpeedTrial.Reading {

    static HttpReading open(int pageBytes, long objectBytes, int rangeBytes)
            throws IOException, ConfigException {
        Path folder = Files.createTempDirectory("railhead-bench");
        OneObjectStore store = OneObjectStore.start(objectBytes);
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: trainer
                    keys:
                      - {access_key: %s, secret_key: %s}
                """.formatted(SignedGets.ACCESS_KEY, SignedGets.SECRET_KEY));
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  event_loops: 1
                admin: {enabled: false}
                cache:
                  memory: %dMiB
                  page: %dKiB
                backends:
                  store:
                    endpoints: ["%s"]
                    region: us-east-1
                rules:
                  - freshness: immutable
                    authorization: {remember: 10m}
                rdma:
                  loopback: {enabled: false}
                """.formatted(objectBytes / (1 << 19) + 64, pageBytes >> 10, store.endpoint()));
        GatewayConfig config = ConfigLoader.load(yaml);
        CredentialStore credentials = CredentialStore.load(config.gateway().credentials());
        Gateway gateway = Gateway.start(config, credentials);
        SignedGets client = SignedGets
                .connect(URI.create("http://127.0.0.1:" + gateway.port() + OneObjectStore.PATH));
        for (long from = 0; from < objectBytes; from += rangeBytes) {
            client.get(from, rangeBytes);
        }
        return new HttpReading(folder, store, credentials, gateway, client, rangeBytes);
    }

    @Override
    public void read(long from) throws IOException {
        String answer = client.get(from, rangeBytes);
        if (!answer.contains("x-cache: hit\r\n")) {
            throw new IllegalStateException("not a hit: " + answer);
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
        gateway.close();
        credentials.close();
        store.close();
        Files.delete(folder.resolve("credentials.yaml"));
        Files.delete(folder.resolve("railhead.yaml"));
        Files.delete(folder);
    }
}
