package io.railhead.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.object.read.WarmRead.Outcome;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WarmPartsTest {
    private static final long SECOND = 1_000_000_000;

    private final AtomicLong now = new AtomicLong();

    private static Listing parse(String xml) {
        return Listing.parse(xml.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aRateIsKeptAndWhatIsNotUsedIsNotSavedUp() {
        RateLimiter rateLimiter = new RateLimiter(100, now::get);
        assertThat(rateLimiter.delayNanos(50)).isZero();
        assertThat(rateLimiter.delayNanos(100)).isEqualTo(SECOND / 2);
        assertThat(rateLimiter.delayNanos(1)).isEqualTo(3 * SECOND / 2);
        now.set(100 * SECOND);
        assertThat(rateLimiter.delayNanos(100)).isZero();
        assertThat(rateLimiter.delayNanos(100)).isEqualTo(SECOND);
        assertThat(new RateLimiter(0, now::get).delayNanos(Long.MAX_VALUE)).isZero();
    }

    @Test
    void aListingIsReadWhateverElseItSays() {
        Listing page = parse(
                """
                        <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                          <Name>b</Name><Prefix/><!-- none -->
                          <Contents><Key>a &amp; b</Key><Size>7</Size><ETag>"e"</ETag>
                            <Owner><ID>o</ID><Key>not this</Key></Owner></Contents>
                          <CommonPrefixes><Prefix>p</Prefix></CommonPrefixes>
                          <Contents><Size>0</Size><Key>ü</Key></Contents>
                          <IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>
                        </ListBucketResult>"""
                        .strip());
        assertThat(page).isEqualTo(new Listing(List.of(new Listing.Entry("a & b", "\"e\"", 7),
                new Listing.Entry("ü", "", 0)), "t"));
        assertThat(parse("<ListBucketResult/>")).isEqualTo(new Listing(List.of(), null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "<Error/>", "<ListBucketResult>",
            "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key/><Size>1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>k</Key><Size>x</Size></Contents></ListBucketResult>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><ListBucketResult><Contents><Key>&e;"
                    + "</Key><Size>1</Size></Contents></ListBucketResult>"})
    void whatIsNoListingIsRefused(String xml) {
        assertThatThrownBy(() -> parse(xml)).isInstanceOf(S3Refusal.class);
    }

    @Test
    void oneGoesOnBehindWhatIsDoneWithoutAGap() {
        WarmProgress progress = new WarmProgress(now::get);
        List<WarmProgress.Item> items = new ArrayList<>();
        for (String key : List.of("a", "b", "c", "d")) {
            items.add(progress.begin(key));
        }
        progress.ended(items.get(1), Outcome.FILLED, 10, "");
        assertThat(progress.running().getString("last_key")).isEmpty();
        progress.ended(items.get(0), Outcome.REFUSED, 0, "");
        assertThat(progress.running().getString("last_key")).isEqualTo("b");
        progress.ended(items.get(2), Outcome.FAILED, 3, "why");
        progress.ended(items.get(3), Outcome.HELD, 0, "");
        now.set(2 * SECOND);
        assertThat(progress.ended()).isEqualTo(JsonObject.of("state", "failed", "objects", 1,
                "bytes", 13, "bytes_per_second", 7, "held", 1, "not_cached", 0, "refused", 1,
                "failed", 1, "last_key", "b", "reason", "c: why"));
    }

    @Test
    void aStoreThatOnlyFailsIsLeftAlone() {
        WarmProgress progress = new WarmProgress(now::get);
        for (int i = 0; i < 10; i++) {
            assertThat(progress.isStopped()).isFalse();
            progress.ended(progress.begin("k" + i), Outcome.FAILED, 0, "down");
        }
        assertThat(progress.isStopped()).isTrue();
        assertThat(progress.ended().getString("state")).isEqualTo("failed");
    }
}
