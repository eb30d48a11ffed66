package io.railhead.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.os.RequiresDirectFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands about pending writes, at a gateway before a store that takes nothing. */
@RequiresDirectFiles
class PendingCommandsIT {
    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer store;

    @BeforeEach
    void start() throws IOException {
        System.setProperty("aws.accessKeyId", "ADMIN");
        System.setProperty("aws.secretAccessKey", "admin-secret");
        store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        store.createContext("/", PendingCommandsIT::serve);
        store.start();
    }

    @AfterEach
    void stop() {
        store.stop(0);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
    }

    /** A bucket without versions and encryption, that takes no object. */
    private static void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            boolean isVersioning = "versioning".equals(exchange.getRequestURI().getQuery());
            byte[] body = "<VersioningConfiguration/>".getBytes(UTF_8);
            if (isVersioning) {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            } else {
                exchange.sendResponseHeaders(
                        exchange.getRequestMethod().equals("PUT") ? 503 : 404, -1);
            }
        }
    }

    private GatewayConfig config() throws Exception {
        Files.writeString(folder.resolve("c.yaml"), """
                principals:
                  - name: o
                    keys: [{access_key: ADMIN, secret_key: admin-secret}]
                    backend_credential: {access_key: STORE, secret_key: store-secret}
                    admin: true
                """);
        Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
                  "Principal": "o", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
                """);
        return ConfigLoader.load(Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: c.yaml,
                  sole: true, policy: policy.json}
                cache: {memory: 64MiB}
                write_back: {path: "%s", size: 64MiB}
                rules: [{bucket: ckpt, acknowledge: disk, copies: 1}]
                backends: {store: {endpoints: ["http://127.0.0.1:%d"]}}
                rdma: {loopback: {enabled: false}}
                admin: {listen: "127.0.0.1:0"}
                """.formatted(folder.resolve("log"), store.getAddress().getPort())));
    }

    private int run(String... arguments) {
        out.getBuffer().setLength(0);
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }

    @Test
    void aPendingObjectIsListedExportedAndDiscarded() throws Exception {
        byte[] content = new byte[3_000_000];
        new Random(1).nextBytes(content);
        Path source = Files.write(folder.resolve("source"), content);
        Path exported = folder.resolve("exported");
        GatewayConfig config = config();
        try (CredentialStore credentials = CredentialStore.open(config.gateway());
                Gateway gateway = Gateway.start(config, credentials)) {
            String s3 = "--endpoint=http://127.0.0.1:" + gateway.port();
            String port = "--endpoint=http://127.0.0.1:" + gateway.adminPort();
            assertThat(run("put", source.toString(), "s3://ckpt/a b", s3, "--via", "http"))
                    .as(err.toString())
                    .isZero();
            assertThat(run("admin", "pending", port)).isZero();
            assertThat(out.toString()).contains("\ts3://ckpt/a b", "1 objects pending, 2.9 MiB");
            String id = out.toString().split("\t", 2)[0];
            assertThat(run("admin", "export", port, "s3://ckpt/a b", "--id", id, "-o",
                    exported.toString())).as(err.toString()).isZero();
            assertThat(exported).hasBinaryContent(content);
            assertThat(run("admin", "discard", port, "s3://ckpt/a", "--id", id)).isEqualTo(1);
            assertThat(err.toString()).contains("list again");
            assertThat(run("admin", "retry", port)).isZero();
            int discarded = run("admin", "discard", port, "s3://ckpt/a b", "--id", id);
            while (discarded == 1 && err.toString().contains("being written")) {
                err.getBuffer().setLength(0);
                discarded = run("admin", "discard", port, "s3://ckpt/a b", "--id", id);
            }
            assertThat(discarded).as(err.toString()).isZero();
            assertThat(out.toString()).contains("discarded: s3://ckpt/a b, 2.9 MiB");
            assertThat(run("admin", "flush", port)).isZero();
            assertThat(out.toString()).contains("the stores have it all");
        }
    }
}
