package io.railhead.benchmarks.channel;

import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** A gateway in this process, before a store that has one small object. */
record HitSite(Path folder, OneObjectStore store, CredentialStore credentials,
        Gateway gateway) implements AutoCloseable {

    /** Opens a site with loopback. */
    static HitSite open(int objectBytes) throws IOException, ConfigException {
        return open(objectBytes, "");
    }

    /** Opens a site with loopback and an RDMA adapter. */
    static HitSite openVerbs(int objectBytes, String address) throws IOException, ConfigException {
        return open(objectBytes, "verbs: {enabled: true, listen: [\"%s\"]}".formatted(address));
    }

    private static HitSite open(int objectBytes, String verbs)
            throws IOException, ConfigException {
        Path folder = Files.createTempDirectory("railhead-bench");
        OneObjectStore store = OneObjectStore.start(objectBytes);
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: trainer
                    keys:
                      - {access_key: %s, secret_key: %s}
                """.formatted(SignedRequest.ACCESS_KEY, SignedRequest.SECRET_KEY));
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:0
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  event_loops: 2
                cache:
                  memory: 128MiB
                backends:
                  store:
                    endpoints: ["%s"]
                    region: us-east-1
                rules:
                  - freshness: immutable
                    authorization: {remember: 1h}
                rdma:
                  loopback: {socket: %s}
                  %s
                admin: {enabled: false}
                """.formatted(store.endpoint(), folder.resolve("loopback.sock"), verbs));
        GatewayConfig config = ConfigLoader.load(yaml);
        CredentialStore credentials = CredentialStore.load(config.gateway().credentials());
        return new HitSite(folder, store, credentials, Gateway.start(config, credentials));
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + gateway.port() + path);
    }

    @Override
    public void close() throws IOException {
        gateway.close();
        credentials.close();
        store.close();
        Files.delete(folder.resolve("credentials.yaml"));
        Files.delete(folder.resolve("railhead.yaml"));
        Files.delete(folder);
    }
}
