package io.railhead.gateway;

import static java.util.Map.entry;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Walks the tables of docs/limits.md: each row names a limit that some test goes past. */
class LimitsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path PAGE = CHECKOUT.resolve("docs/limits.md");

    /** By the row: a test, and what only a test of that limit has. */
    private static final Map<String, Past> TESTED = Map.ofEntries(
            entry("completion of a multipart upload at the gateway's disk",
                    new Past("CompletionTest", "repeat(10_001)")),
            entry("framing", new Past("BadHeadsIT", "chunked, chunked")),
            entry("request line", new Past("BadHeadsIT", "a long target")),
            entry("header fields", new Past("BadHeadsIT", "a megabyte of fields")),
            entry("header fields of a signed request",
                    new Past("AuthenticatorTest", "repeat(64 << 10)")),
            entry("a head's time", new Past("HttpFramingIT", "slow_head")),
            entry("a body's pace", new Past("SlowPeersIT", "slow_sender")),
            entry("connections", new Past("SlowPeersIT", "\"connections\"")),
            entry("requests and bytes in flight", new Past("FloodIT", "SlowDown")),
            entry("an event loop's time", new Past("FloodIT", "waited_requests")),
            entry("method", new Past("BadHeadsIT", "MethodNotAllowed")),
            entry("target", new Past("BadHeadsIT", "\"a&\".repeat(600)")),
            entry("bucket", new Past("BadHeadsIT", "InvalidBucketName")),
            entry("names in `SignedHeaders`",
                    new Past("BadHeadsIT", "AuthorizationHeaderMalformed")),
            entry("date of a signature",
                    new Past("BadHeadsIT", "RequestTimeTooSkewed")),
            entry("life of a presigned URL", new Past("BadHeadsIT", "604801")),
            entry("each part of a signature", new Past("BadHeadsIT", "twice")),
            entry("aws-chunked", new Past("BadBodiesIT", "IncompleteBody")),
            entry("trailer", new Past("BadBodiesIT", "MalformedTrailerError")),
            entry("DeleteObjects", new Past("BadBodiesIT", "MaxMessageLengthExceeded")),
            entry("cache-only object", new Past("CacheOnlyIT", "EntityTooLarge")),
            entry("user metadata and kept headers of a cache-only object",
                    new Past("CacheOnlyIT", "MetadataTooLarge")),
            entry("cache-only objects",
                    new Past("CacheOnlyIT", "aFullShareEvictsWholeObjects")),
            entry("RDMA token", new Past("OneSidedIT", "InvalidRDMAToken")),
            entry("keys of one native request", new Past("ChannelKeysIT", "KeyTooLongError")),
            entry("windows of one native request",
                    new Past("ChannelWindowsIT", "overlapping")),
            entry("lease of cache-only objects", new Past("ChannelKeysIT", "600_001")),
            entry("subscriptions to removals of cache-only objects",
                    new Past("RemovalsIT", "at most 64")),
            entry("body of what was refused", new Past("HttpFramingIT", "long_body")),
            entry("browser form",
                    new Past("FormUploadIT", "MaxPostPreDataLengthExceededError")),
            entry("administration's calls", new Past("AdminAccessIT", "(4 << 20) + 1")),
            entry("token exchange", new Past("StsIT", "20_001")),
            entry("bucket events", new Past("EventsIT", "repeat(300_000)")),
            entry("status line, and the line before a chunk",
                    new Past("StoreAnswersIT", "StoreAnswerMalformed")),
            entry("header fields, and trailers",
                    new Past("StoreAnswersIT", "StoreAnswerTooLarge")),
            entry("documents that the gateway itself reads: DeleteObjects' answer, warming's listing",
                    new Past("LongDocumentsIT", "StoreAnswerTooLarge")),
            entry("a connection's beginning",
                    new Past("ConnectionLimitsTest", "aConnectionThatDoesNotBeginInTime")),
            entry("a connection without a request",
                    new Past("ConnectionLimitsTest", "aConnectionWithoutARequestIsClosed")),
            entry("answers to other gateways at a time",
                    new Past("FillPortIT", "noMoreAreAnswered")),
            entry("the head of an owner's answer",
                    new Past("PeerFetchTest", "anOwnerThatSaysNothingIsNotWaitedFor")),
            entry("between two pieces of an owner's answer",
                    new Past("PeerFetchTest", "anOwnerThatIsNotSeenAnyMore")),
            entry("questions in vain to an owner of before",
                    new Past("PreviousOwnersTest", "whoMissesAgainAndAgain")),
            entry("a question for bytes", new Past("FillPortIT", "(64 << 10) + 1")),
            entry("a message", new Past("LoopbackChannelTest", "tooLong")),
            entry("connections to a store",
                    new Past("EndpointPoolTest", "CONNECTIONS + WAITING")),
            entry("the memory that one token names",
                    new Past("TokenTest", "Token.loopback(0, 1L << 32")),
            entry("the head of an answer", new Past("BackendFaultsIT", "answer_timeout")),
            entry("between two pieces of a body",
                    new Past("BackendFaultsIT", "idle_timeout")),
            entry("requests and bytes a second of a tenant",
                    new Past("RateLimitIT", "SlowDown")),
            entry("requests and bytes a second to a store",
                    new Past("StoreRateTest", "RATE_LIMITED")),
            entry("requests of one session without an answer",
                    new Past("LoopbackChannelTest", "tooMany")),
            entry("buffers of one session",
                    new Past("CrossMemoryTest", "TOO_MANY_BUFFERS")),
            entry("sessions of a principal; sessions that are being opened",
                    new Past("LoopbackHandshakeTest",
                            "tooManyUnprovenConnectionsAreTurnedAway")));

    /**
     * @param test the class, in whichever package
     */
    private record Past(String test, String has) {}

    private static Map<String, Path> testClasses() throws IOException {
        Map<String, Path> classes = new HashMap<>();
        for (String module : List.of("gateway", "rdma-listener", "rdma-protocol",
                "backend-connectors")) {
            try (Stream<Path> files = Files.walk(CHECKOUT.resolve(module + "/src/test/java"))) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .forEach(file -> classes.put(
                                file.getFileName().toString().replace(".java", ""), file));
            }
        }
        return classes;
    }

    static List<String> rows() throws IOException {
        try (Stream<String> lines = Files.lines(PAGE)) {
            return lines.filter(line -> line.startsWith("| "))
                    .map(line -> line.split(" \\| ", -1)[0].substring(2))
                    .filter(row -> !row.equals("what"))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void someTestGoesPastIt(String row) throws IOException {
        assertThat(TESTED).as("a test of the limit").containsKey(row);
        Past past = requireNonNull(TESTED.get(row));
        Path source = testClasses().get(past.test());
        assertThat(source).as("the class %s", past.test()).isNotNull();
        assertThat(Files.readString(requireNonNull(source))).contains(past.has());
    }

    @Test
    void nothingIsListedThatThePageHasNoRowOf() throws IOException {
        assertThat(rows()).doesNotHaveDuplicates().containsAll(TESTED.keySet());
    }
}
