package io.railhead.cli.reading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/** What demo and bench site share; as a whole, the two run it. */
class ReadingPartsTest {
    @TempDir
    Path folder;

    @Test
    void theVerifierTakesTheRightBytesOnceAndWipesThem() throws IOException {
        byte[] content = content(Manifest.PART_BYTES + 10);
        Manifest.Entry entry = Manifest.entry("k", Files.write(folder.resolve("k"), content));
        Verifier verifier = new Verifier(entry, Manifest.PART_BYTES);
        ByteBuffer first = ByteBuffer.wrap(content, 0, Manifest.PART_BYTES).slice();

        verifier.accept(0, first);
        assertThat(first.clear()).isEqualTo(ByteBuffer.allocate(Manifest.PART_BYTES));
        assertThatThrownBy(verifier::requireComplete).isInstanceOf(IOException.class);
        verifier.accept(Manifest.PART_BYTES,
                ByteBuffer.wrap(content, Manifest.PART_BYTES, 10).slice());

        verifier.requireComplete();
        assertThat(verifier.parts()).isEqualTo(2);
    }

    @Test
    void oneWrongBitIsSeen() throws IOException {
        byte[] content = content(1000);
        Manifest.Entry entry = Manifest.entry("k", Files.write(folder.resolve("k"), content));
        content[999] ^= 1;

        assertThatThrownBy(
                () -> new Verifier(entry, Manifest.PART_BYTES).accept(0, ByteBuffer.wrap(content)))
                .hasMessageContaining("wrong bytes in k");
    }

    @Test
    void theJsonHasTheNamesThatReadersExpect() {
        Row row = Row.of(Row.Path.RDMA_HIT_STRONG, "strong",
                new Measured(1L << 30, 9, 2, 0.5, 10, 20, ""), new Spent(1.5, 7, 0));

        assertThat(Json.line(new Report(true, List.of(row)))).isEqualTo(
                "{\"verified\":true,\"rows\":[{\"path\":\"rdma-hit-strong\",\"fabric\":\"loopback\","
                        + "\"freshness\":\"strong\",\"bytes\":1073741824,\"mib_per_s\":512.0,"
                        + "\"p50_us\":10.0,\"p99_us\":20.0,\"gateway_cpu_s_per_gib\":1.5,"
                        + "\"client_cpu_s_per_gib\":0.5,\"backend_requests\":7,\"backend_bytes\":0}]}");
    }

    @Test
    void theTableCallsLoopbackWhatItIs() {
        StringWriter out = new StringWriter();
        Table.print(new PrintWriter(out), List.of(Row.of(Row.Path.RDMA_HIT, "immutable",
                new Measured(1 << 20, 1, 1, 0, 1, 1, ""), new Spent(0, 0, 0))), "All is here.");

        assertThat(out.toString()).contains("shared memory, not a network", "█", "NIC",
                "All is here.");
    }

    @Test
    void whatAGivenGatewayUsedIsADash() {
        StringWriter out = new StringWriter();
        Table.print(new PrintWriter(out), List.of(Row.of(Row.Path.HTTP_HIT, "as set",
                new Measured(1 << 20, 1, 1, 0, 1, 1, ""), null)), "");

        assertThat(out.toString()).containsPattern("http-hit +as set +1.0 +1.0 +1.0 +- +0.000 +-");
    }

    @Test
    void aSessionTokenGoesToTheGatewayAndToTheClient() {
        Origin origin = origin(AwsSessionCredentials.create("AK", "s\"k", "token"));

        assertThat(origin.key()).containsOnly(Map.entry("access_key", "AK"),
                Map.entry("secret_key", "s\"k"), Map.entry("session_token", "token"));
        assertThat(origin.environment()).containsEntry("AWS_SESSION_TOKEN", "token")
                .containsEntry("AWS_REGION", "eu-central-1");
    }

    @Test
    void withoutOneTheClientInheritsNone() {
        Origin origin = origin(AwsBasicCredentials.create("AK", "sk"));

        assertThat(origin.key()).doesNotContainKey("session_token");
        assertThat(origin.environment()).containsEntry("AWS_SESSION_TOKEN", "");
    }

    private static Origin origin(AwsCredentials credentials) {
        return new Origin(URI.create("http://127.0.0.1:1"), "eu-central-1", credentials,
                new Manifest("b", List.of()));
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }
}
