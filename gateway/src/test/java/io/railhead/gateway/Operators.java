package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import javax.net.ssl.SSLContext;

/** What operators do to gateways of their own while clients are at work. */
public final class Operators implements AutoCloseable {
    /** What the AWS SDKs do in their standard mode. */
    private static final int ATTEMPTS_OF_SDKS = 3;
    /** For who waits until the only gateway is back: a minute and more. */
    private static final int PATIENT = 30;
    private static final int SOME = 150;
    private static final long SEED = 11;

    private final Path folder;

    private final FakeStore store = new FakeStore();

    public Operators(Path folder) {
        this.folder = folder;
    }

    private static String principal(String accessKey, String storeKey) {
        return """
                principals:
                  - name: trainer
                    keys: [{access_key: %s, secret_key: SK}]
                    backend_credential: {access_key: %s, secret_key: store-secret}
                """.formatted(accessKey, storeKey);
    }

    private Path config(String name, int port, String settings) throws IOException {
        Path own = Files.createDirectories(folder.resolve(name));
        Files.writeString(own.resolve("credentials.yaml"), principal("AK", "STORE"));
        return Files.writeString(own.resolve("railhead.yaml"), """
                gateway:
                  listen: 127.0.0.1:%d
                  health: 127.0.0.1:0
                  credentials: credentials.yaml
                  drain: 20s
                %s
                rdma:
                  loopback:
                    socket: loopback.sock
                admin: {listen: 127.0.0.1:0}
                cache: {memory: 64MiB}
                backends:
                  store:
                    endpoints: [%s]
                rules:
                  - bucket: held
                    freshness: immutable
                """.formatted(port, settings, store.endpoint()));
    }

    /** Two gateways behind an address, of which one after the other is replaced. */
    public void restartOneAfterAnother() throws Exception {
        List<Path> configs = List.of(config("one", GatewayProcess.freePort(), ""),
                config("two", GatewayProcess.freePort(), ""));
        GatewayProcess[] running = {GatewayProcess.start(configs.get(0)),
                GatewayProcess.start(configs.get(1))};
        try (Forwarder address = new Forwarder()) {
            address.passOnTo(running[0].endpoint(), running[1].endpoint());
            TestClient client = new TestClient(address.endpoint(), "AK", "SK");
            try (SteadyLoad load = new SteadyLoad(store, client, SEED, ATTEMPTS_OF_SDKS)) {
                for (int round = 0; round < 4; round++) {
                    load.awaitMore(SOME);
                    running[round % 2].terminate();
                    load.awaitMore(SOME);
                    running[round % 2] = GatewayProcess.start(configs.get(round % 2));
                }
                load.awaitMore(SOME);
                assertThat(load.failures()).isEmpty();
                say("rolling restart", load);
            }
        } finally {
            running[0].close();
            running[1].close();
        }
    }

    public void killAndStartAgain() throws Exception {
        Path config = config("one", GatewayProcess.freePort(), "");
        GatewayProcess running = GatewayProcess.start(config);
        TestClient client = new TestClient(running.endpoint(), "AK", "SK");
        try (SteadyLoad load = new SteadyLoad(store, client, SEED, PATIENT)) {
            for (int round = 0; round < 3; round++) {
                load.awaitMore(SOME);
                running.kill();
                running = GatewayProcess.start(config);
            }
            load.awaitMore(SOME);
            assertThat(load.failures()).isEmpty();
            assertThat(load.retries()).isPositive();
            say("killed", load);
        } finally {
            running.close();
        }
    }

    /** Good and bad files, with the store's own key among what changes. */
    public void changeFiles() throws Exception {
        TestCertificates certificates = new TestCertificates(folder).create("old", "RSA")
                .create("new", "EC");
        Path certificate = folder.resolve("tls.pem");
        Path key = folder.resolve("tls.key");
        Files.copy(certificates.certificate("old"), certificate);
        Files.copy(certificates.key("old"), key);
        Path config = config("one", GatewayProcess.freePort(), """
                  tls: {certificate: %s, key: %s}
                """.formatted(certificate, key).stripTrailing());
        Path credentials = config.resolveSibling("credentials.yaml");
        SSLContext tls = certificates.context(List.of("old", "new"), null);
        try (GatewayProcess running = GatewayProcess.start(config);
                SteadyLoad load = new SteadyLoad(store, client(running, "AK", tls), SEED,
                        ATTEMPTS_OF_SDKS)) {
            load.awaitMore(SOME);

            replace(certificate, Files.readString(certificates.certificate("new")));
            awaitReload(running, "tls", "refused");
            load.awaitMore(SOME);
            replace(key, Files.readString(certificates.key("new")));
            awaitReload(running, "tls", "used");
            load.use(client(running, "AK", certificates.context(List.of("new"), null)));
            load.awaitMore(SOME);

            replace(credentials, "principals: [{name: trainer, keys: [{access_key: AK");
            awaitReload(running, "credentials", "refused");
            load.awaitMore(SOME);
            replace(credentials, principal("AK", "STORE")
                    .replace("keys: [", "keys: [{access_key: NEXT, secret_key: SK}, "));
            awaitReload(running, "credentials", "used");
            load.use(client(running, "NEXT", tls));
            load.awaitMore(SOME);
            replace(credentials, principal("NEXT", "STORE2"));
            TestGateway.await(() -> running.metric(
                    "railhead_file_reloads_total{setting=\"credentials\",outcome=\"used\",}") > 1);
            load.awaitMore(SOME);
            store.deny("STORE");
            load.awaitMore(SOME);

            assertThat(load.failures()).isEmpty();
            assertThat(client(running, "AK", tls).get("/held/o1").statusCode()).isEqualTo(403);
            say("files", load);
        }
    }

    /** Rules, limits, levels and stores, good and bad, by the file alone and on SIGHUP. */
    public void changeRules() throws Exception {
        Path config = config("one", GatewayProcess.freePort(), "");
        String first = Files.readString(config);
        try (GatewayProcess running = GatewayProcess.start(config);
                SteadyLoad load = new SteadyLoad(store,
                        new TestClient(running.endpoint(), "AK", "SK"), SEED,
                        ATTEMPTS_OF_SDKS)) {
            load.awaitMore(SOME);
            replace(config, first.replace("freshness: immutable", "freshness: imutable"));
            awaitReload(running, "config", "refused");
            assertThat(running.metric("railhead_file_refused{setting=\"config\",}")).isOne();
            assertThat(running.log()).contains("'imutable' is not one of strong, immutable");
            replace(config, first.replace("64MiB", "128MiB"));
            TestGateway.await(() -> reloads(running, "refused") > 1);
            assertThat(running.log()).contains("cache.memory needs a restart");
            load.awaitMore(SOME);
            for (String changed : List.of(
                    first.replace("freshness: immutable", "freshness: {bounded: 1s}"),
                    first.replace("freshness: immutable", "cache: off"),
                    first + "log: {level: debug}\n",
                    first.replace("endpoints: [",
                            "endpoints: [\"http://localhost:" + store.endpoint().getPort()
                                    + "\", "),
                    first)) {
                double before = reloads(running, "used");
                replace(config, changed);
                running.hangUp();
                TestGateway.await(() -> reloads(running, "used") > before);
                load.awaitMore(SOME);
            }
            assertThat(running.metric("railhead_file_refused{setting=\"config\",}")).isZero();
            assertThat(running.isAlive()).isTrue();
            assertThat(load.failures()).isEmpty();
            say("rules", load);
        }
    }

    private static double reloads(GatewayProcess running, String outcome) {
        return running.metric("railhead_file_reloads_total{setting=\"config\",outcome=\"" + outcome
                + "\",}");
    }

    private static TestClient client(GatewayProcess running, String accessKey, SSLContext tls) {
        return new TestClient(URI.create("https://127.0.0.1:" + running.port()),
                accessKey, "SK", tls);
    }

    /** As a rotation does: nobody ever sees half of it. */
    private static void replace(Path file, String content) throws IOException {
        Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".next"), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void awaitReload(GatewayProcess running, String setting, String outcome) {
        TestGateway.await(() -> running.metric("railhead_file_reloads_total{setting=\"" + setting
                + "\",outcome=\"" + outcome + "\",}") > 0);
    }

    private static void say(String what, SteadyLoad load) {
        System.out.println(what + ": " + load.done() + " requests, " + load.retries()
                + " tried again");
    }

    @Override
    public void close() {
        store.close();
    }
}
