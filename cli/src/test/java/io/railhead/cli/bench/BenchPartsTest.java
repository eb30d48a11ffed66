package io.railhead.cli.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.railhead.cli.local.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4FamilyHttpSigner;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** The bench's pieces; the bench as a whole is {@link PeersIT}. */
class BenchPartsTest {
    private static final Instant NOW = Instant.parse("2026-11-22T07:00:00Z");

    @TempDir
    Path folder;

    @Test
    void theMedianIsInTheMiddle() {
        assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(1, 2, 3));
        assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 3.0)).median()).isEqualTo(2.5);
        assertThat(Spread.of(List.of(1.0, 2.0, 3.0)).relative()).isEqualTo(1);
    }

    @Test
    void percentilesAreOfWhatLiesBetweenTwoCounts() {
        Latencies latencies = new Latencies();
        latencies.add(9_000_000);
        for (int i = 1; i <= 10_000; i++) {
            latencies.add(i * 1_000L);
        }
        double[] sorted = latencies.between(1, latencies.count());

        assertThat(Latencies.percentile(sorted, 50)).isEqualTo(5_000);
        assertThat(Latencies.percentile(sorted, 99)).isEqualTo(9_900);
        assertThat(Latencies.percentile(new double[0], 99)).isZero();
    }

    @Test
    void whatTakesMinutesIsALatencyToo() {
        Latencies latencies = new Latencies();
        latencies.add(90_000_000_000L);

        assertThat(latencies.between(0, 1)).containsExactly(90_000_000);
    }

    private static RunResult round(double gigabits, double server, double client) {
        return new RunResult(1, (long) (gigabits * 1e9 / 8), 1000, 10, 20, server, 0, client, 0,
                "");
    }

    @Test
    void aRatioIsOfTheBestOtherInTheSameRound() {
        List<Ratios> ratios = Ratios.of(List.of(
                new BenchRow(MeasuredSystem.RAILHEAD_SIGNED, 4096, 1,
                        List.of(round(2, 1, 1), round(8, 1, 1), round(3, 1, 1))),
                new BenchRow(MeasuredSystem.NGINX, 4096, 1,
                        List.of(round(1, 1, 0), round(4, 1, 0), round(3, 1, 0))),
                new BenchRow(MeasuredSystem.VARNISH, 4096, 1,
                        List.of(round(1, 9, 9), round(1, 9, 9), round(1, 9, 9))),
                new BenchRow(MeasuredSystem.NGINX, 8192, 1, List.of(round(99, 1, 0)))));

        assertThat(ratios).singleElement().satisfies(ratio -> {
            assertThat(ratio.bestBandwidth()).isEqualTo(MeasuredSystem.NGINX);
            assertThat(ratio.bandwidth()).isEqualTo(new Spread(1, 2, 2));
            assertThat(ratio.bestCpu()).isEqualTo(MeasuredSystem.NGINX);
            assertThat(ratio.cpu().median()).isEqualTo(1);
        });
    }

    @Test
    void whatGoesOneSidedIsComparedWithAPlainCopyAndThatWithNoCache() {
        List<BenchRow> rows = List.of(
                new BenchRow(MeasuredSystem.RAILHEAD_NATIVE, 4096, 16, List.of(round(8, 1, 1))),
                new BenchRow(MeasuredSystem.RAILHEAD_SIGNED, 4096, 16, List.of(round(4, 1, 1))),
                new BenchRow(MeasuredSystem.COPY, 4096, 16, List.of(round(10, 0, 1))),
                new BenchRow(MeasuredSystem.COPY, 4096, 1, List.of(round(1, 0, 1))));

        assertThat(Ratios.of(rows)).isEmpty();
        assertThat(Ratios.OfCopying.of(rows)).singleElement().satisfies(ratio -> {
            assertThat(ratio.row().contender()).isEqualTo(MeasuredSystem.RAILHEAD_NATIVE);
            assertThat(ratio.bandwidth().median()).isEqualTo(0.8);
        });
    }

    @Test
    void whatIsShortOrNoisyOrServedByTheStoreIsSaid() {
        PeersPlan plan = new PeersPlan(List.of(MeasuredSystem.NGINX), List.of(4096L), List.of(1), 2,
                1,
                0);
        BenchRow noisy = new BenchRow(MeasuredSystem.NGINX, 4096, 1,
                List.of(round(1, 1, 1), round(2, 1, 1)));
        BenchRow asking = new BenchRow(MeasuredSystem.VARNISH, 4096, 1,
                List.of(new RunResult(1, 1000, 1, 1, 1, 1, 1, 1, 1.5, "")));

        assertThat(ValidityChecks.of(plan, List.of(noisy, asking), false)).hasSize(5)
                .anySatisfy(doubt -> assertThat(doubt).startsWith("TOO SHORT"))
                .anySatisfy(doubt -> assertThat(doubt).startsWith("NOISY: in 1 of 2"))
                .anySatisfy(doubt -> assertThat(doubt).startsWith("BUSY: other work took 0.75"))
                .anySatisfy(doubt -> assertThat(doubt).contains("Varnish, malloc asked the store"));
    }

    @Test
    void eachRoundIsBegunByAnother() {
        PeersPlan plan = new PeersPlan(
                List.of(MeasuredSystem.NGINX, MeasuredSystem.VARNISH, MeasuredSystem.COPY),
                List.of(1L),
                List.of(1), 2, 1, 0);

        assertThat(plan.order(0, 1)).containsExactly(MeasuredSystem.NGINX, MeasuredSystem.VARNISH);
        assertThat(plan.order(1, 1)).containsExactly(MeasuredSystem.VARNISH, MeasuredSystem.NGINX);
        assertThat(plan.turns()).isEqualTo(4);
        assertThat(plan.order(0, 1 << 20)).hasSize(3);
    }

    @Test
    void aProcessesTimeIsThatOfItsChildrenToo() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c",
                "sh -c 'while :; do :; done' & echo started; wait").start();
        try (var output = shell.inputReader()) {
            assertThat(output.readLine()).isEqualTo("started");
            ProcessTime tree = ProcessTime.of(ProcessTime.tree(shell));
            ProcessTime alone = ProcessTime.of(List.of(shell.pid()));
            assertThat(tree.processes()).hasSizeGreaterThan(1);
            while (tree.seconds() < 0.1) {
                TimeUnit.MILLISECONDS.sleep(10);
            }
            assertThat(alone.seconds()).isLessThan(0.1);
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
    }

    @Test
    void theMachinesTimeIsWhatWasNotIdle() {
        assertThat(CounterSnapshot.busy("cpu  100 1 200 9999 999 3 4 50 0 0\ncpu0 1 2 3\n"))
                .isEqualTo(3.08, within(1e-9));
    }

    @Test
    void coresAreReadAsTheKernelListsThem() {
        assertThat(Cores.allowed("Name:\tx\nCpus_allowed_list:\t0-2,5\nMems: 0\n"))
                .containsExactly(0, 1, 2, 5);
    }

    @Test
    void pinningIsTasksets() {
        Cores cores = new Cores("0,1", "2,3", 2);

        assertThat(cores.onServer(List.of("x"))).endsWith("taskset", "-c", "0,1", "x");
        assertThat(cores.onClient(List.of("x"))).endsWith("taskset", "-c", "2,3", "x");
        assertThat(Cores.free().onServer(List.of("x"))).endsWith("x").doesNotContain("taskset");
    }

    private static int head(ResponseHead head, String text) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(text.getBytes(ISO_8859_1));
        int end = head.read(buffer);
        assertThat(buffer.position()).isEqualTo(Math.max(0, end));
        return end;
    }

    @Test
    void aHeadIsReadWhoeverWroteIt() throws IOException {
        ResponseHead head = new ResponseHead();
        String nginx = "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 4096\r\n\r\n";
        assertThat(head(head, nginx + "body")).isEqualTo(nginx.length());
        assertThat(head.contentLength()).isEqualTo(4096);
        assertThat(head.delivered()).isZero();

        assertThat(head(head, nginx.substring(0, nginx.length() - 1))).isEqualTo(-1);

        String ours = String.join("\r\n", "HTTP/1.1 200 OK", "content-length: 0",
                "x-amz-rdma-reply: 200", "x-amz-rdma-bytes-transferred: 123456789012", "", "");
        assertThat(head(head, ours)).isEqualTo(ours.length());
        assertThat(head.contentLength()).isZero();
        assertThat(head.delivered()).isEqualTo(123_456_789_012L);
    }

    @Test
    void whatIsNotAHitIsRefused() {
        ResponseHead head = new ResponseHead();
        assertThatThrownBy(() -> head(head, "HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nsad"))
                .hasMessageContaining("503")
                .hasMessageContaining("sad");
        assertThatThrownBy(() -> head(head, "HTTP/1.1 200 OK\r\n\r\n"))
                .hasMessageContaining("Content-Length");
        assertThatThrownBy(() -> head(head, "HTTP/1.1 200 OK\r\nx: " + "y".repeat(20_000)))
                .hasMessageContaining("longer");
    }

    /** @param headers that are signed beside the usual ones */
    private static String signatureOfTheSdk(String path, Map<String, String> headers) {
        SdkHttpRequest.Builder request = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(URI.create("http://127.0.0.1:9000" + path))
                .putHeader("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        headers.forEach(request::putHeader);
        return AwsV4HttpSigner.create()
                .sign(sign -> sign.request(request.build())
                        .identity(AwsCredentialsIdentity.create("AK", "secret"))
                        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1")
                        .putProperty(AwsV4FamilyHttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4FamilyHttpSigner.NORMALIZE_PATH, false)
                        .putProperty(AwsV4FamilyHttpSigner.PAYLOAD_SIGNING_ENABLED, false)
                        .putProperty(HttpSigner.SIGNING_CLOCK, Clock.fixed(NOW, ZoneOffset.UTC)))
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow()
                .replaceAll(".*Signature=", "");
    }

    @Test
    void signaturesAreThoseOfTheAwsSdk() {
        SigV4 signer = SigV4.at(NOW, "AK", "secret", "127.0.0.1:9000");

        assertThat(signer.sign("GET", "/b/k", "", Map.of()).signature())
                .isEqualTo(signatureOfTheSdk("/b/k", Map.of()));
        assertThat(signer.sign("GET", "/b/k", "list-type=2", Map.of("x-amz-a", "1")).signature())
                .isEqualTo(signatureOfTheSdk("/b/k?list-type=2", Map.of("x-amz-a", "1")));
    }

    @Test
    void aRequestThatIsSignedAnewIsSignedRightEachTime() {
        SigV4 signer = SigV4.at(NOW, "AK", "secret", "127.0.0.1:9000");
        RepeatedRequest requests = new RepeatedRequest.SignedAnew(signer, "GET", "/b/k",
                Map.of("x-amz-rdma-token", "t"));
        String first = ISO_8859_1.decode(requests.next()).toString();
        String second = ISO_8859_1.decode(requests.next()).toString();

        assertThat(second).isNotEqualTo(first).hasSameSizeAs(first).endsWith("\r\n\r\n");
        for (String request : List.of(first, second)) {
            String id = request.replaceAll("(?s).*x-railhead-request-id: ([0-9a-f]+).*", "$1");
            assertThat(request).contains("Signature=" + signatureOfTheSdk("/b/k",
                    Map.of("x-amz-rdma-token", "t", "x-railhead-request-id", id)));
        }
    }

    @Test
    void anObjectTellsItsOffsets() {
        byte[] bytes = BenchObject.bytes(64);
        ByteBuffer read = ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.nativeOrder());
        assertThat(read.getLong(56)).isEqualTo(BenchObject.longAt(56));
        assertThat(read.getLong(0)).isEqualTo(BenchObject.longAt(0)).isNotZero();
    }

    @Test
    void templatesAreFilled() {
        assertThat(RivalCache.filled("listen @PORT@; # @PORT@", Map.of("PORT", "80")))
                .isEqualTo("listen 80; # 80");
    }

    @Test
    void aPageIsWrittenBetweenItsMarkers() throws IOException {
        Path file = Files.writeString(folder.resolve("page.md"), """
                before
                <!-- x: written by the bench -->
                old
                <!-- x: end -->
                after
                """);
        DocsPage page = new DocsPage(file, "x");

        page.write("new");
        page.write("newer");

        assertThat(file).hasContent("""
                before
                <!-- x: written by the bench -->

                newer

                <!-- x: end -->
                after
                """);
        assertThatThrownBy(() -> new DocsPage(file, "y").write("?"))
                .hasMessageContaining("<!-- y: end -->");
    }

    private static PeersReport report() {
        PeersPlan plan = new PeersPlan(
                List.of(MeasuredSystem.RAILHEAD_SIGNED, MeasuredSystem.NGINX),
                List.of(4096L), List.of(1), 1, 1, 0);
        return new PeersReport("./railhead bench peers", new Machine("2026-11-22T07:00:00Z", "CPU",
                2, "6", "25", "0 0 0", true), Map.of("NGINX", "1 & <2>"), plan,
                List.of("a doubt"),
                List.of(new BenchRow(MeasuredSystem.RAILHEAD_SIGNED, 4096, 1,
                        List.of(round(2, 1, 1))),
                        new BenchRow(MeasuredSystem.NGINX, 4096, 1, List.of(round(1, 1, 1)))));
    }

    @Test
    void theReportSaysModeAndDoubt() {
        String text = PeersMarkdown.of(report());

        assertThat(text).contains("**a doubt**",
                "| 4 KiB | 1 | Railhead, signed | immutable | each verified; yes remembered | 2.00",
                "| 4 KiB | 1 | Railhead, signed | 2.00 (2.00 to 2.00) | nginx, sendfile |");
        assertThat(Json.pretty(report())).contains("\"server_cpu\" : 1.0", "\"a doubt\"",
                "\"freshness\" : \"immutable\"");
    }

    @Test
    void chartsAreXml() throws Exception {
        Map<String, String> charts = PeersCharts.of(report());
        assertThat(charts).containsOnlyKeys("peers-throughput.svg", "peers-cpu.svg",
                "peers-latency.svg");
        for (String chart : charts.values()) {
            var document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new java.io.ByteArrayInputStream(
                            chart.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
            assertThat(document.getElementsByTagName("rect").getLength()).isEqualTo(5);
        }
        assertThat(BarChart.draw("a & b < c", List.of())).contains("a &amp; b &lt; c");
    }

    @Test
    void figuresKeepThreeDigits() {
        assertThat(DoubleStream.of(0.01234, 1.234, 12.34, 1234).mapToObj(PeersMarkdown::number))
                .containsExactly("0.012", "1.23", "12.3", "1,234");
    }
}
