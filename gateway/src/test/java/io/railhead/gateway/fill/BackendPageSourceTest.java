package io.railhead.gateway.fill;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Target;
import io.railhead.cache.FillException;
import io.railhead.cache.FillException.Reason;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.gateway.channel.NoBackend;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes that the store sends are a page's only where all that it says of them agrees. */
class BackendPageSourceTest {
    private static final ObjectId ID = new ObjectId("store", "account", "bucket", "key", null);
    private static final String BYTES = "0123456789";

    /** A store whose every answer is this part. */
    private static PageSource answering(Headers headers) {
        return new BackendPageSource(new NoBackend() {
            @Override
            public CompletionStage<BackendResponse> send(BackendRequest request) {
                return CompletableFuture.completedStage(new BackendResponse(206, headers,
                        new FixedBody(ByteBuffer.wrap(BYTES.getBytes(US_ASCII)))));
            }
        }, new Caller.Anonymous(), new Target("bucket", "key", null), FetchTurn.wanted(""));
    }

    private static Headers headers(String etag, String range, String versionId) {
        return Headers.builder()
                .add("ETag", etag)
                .add("Content-Range", range)
                .add("x-amz-version-id", versionId)
                .build();
    }

    /** What came of ten bytes of an object of 100, of the version v1, and how it ended. */
    private static List<String> fetch(Headers answered) {
        List<String> heard = new ArrayList<>();
        answering(answered).fetch(new ObjectVersion(ID, "e", "v1", 100), 20, 10,
                new PageSource.Sink() {
                    @Override
                    public void write(ByteBuffer bytes) {
                        heard.add(US_ASCII.decode(bytes).toString());
                    }

                    @Override
                    public void complete() {
                        heard.add("complete");
                    }

                    @Override
                    public void fail(FillException cause) {
                        heard.add(cause.reason().name());
                    }
                });
        return heard;
    }

    @Test
    void whatWasAskedForIsTaken() {
        assertThat(fetch(headers("e", "bytes 20-29/100", "v1"))).containsExactly(BYTES, "complete");
    }

    @ParameterizedTest
    @CsvSource({"other, bytes 20-29/100, v1", "e, bytes 20-29/101, v1", "e, bytes 20-29/100, v2"})
    void ofAnotherVersionNothingIs(String etag, String range, String versionId) {
        assertThat(fetch(headers(etag, range, versionId)))
                .containsExactly(Reason.VERSION_CHANGED.name());
    }

    @ParameterizedTest
    @CsvSource({"bytes 21-30/100", "bytes 20-30/100", "bytes 20-29/*"})
    void norOfAnotherRange(String range) {
        assertThat(fetch(headers("e", range, "v1"))).containsExactly(Reason.BACKEND_FAILED.name());
    }

    /** Stores say it where a bucket keeps versions, and some never. */
    @Test
    void whereTheStoreNamesNoVersionTheRestDecides() {
        Headers unnamed = Headers.builder()
                .add("ETag", "e")
                .add("Content-Range", "bytes 20-29/100")
                .build();
        assertThat(fetch(unnamed)).containsExactly(BYTES, "complete");
    }
}
