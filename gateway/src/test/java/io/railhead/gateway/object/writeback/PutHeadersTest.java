package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Headers;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Headers of uploads that the store must judge itself. */
class PutHeadersTest {

    private static boolean isKept(String name, String value) {
        return PutHeaders.tryKeep(Headers.builder().add(name, value).build(), Set.of()) != null;
    }

    @ParameterizedTest
    @CsvSource({"x-amz-checksum-crc32,AAAAAA==,true", "X-Amz-Checksum-CRC32C,AAAAAA==,true",
            "x-amz-checksum-crc32,AAAA,false", "x-amz-checksum-crc32,AAAAAA,false",
            "x-amz-checksum-sha1,AAAAAA==,false", "x-amz-checksum-foo,x,false",
            "x-amz-checksum-crc64nvme,AAAAAAAAAAA=,false"})
    void onlyVerifiedChecksumsThatEveryStoreKnowsAreKept(String name, String value,
            boolean isKept) {
        assertThat(isKept(name, value)).isEqualTo(isKept);
    }

    @Test
    void aTrailerThatSomeStoresDoNotKnowIsNotKept() {
        assertThat(PutHeaders.tryKeep(Headers.NONE, Set.of("x-amz-checksum-crc32"))).isNotNull();
        assertThat(PutHeaders.tryKeep(Headers.NONE, Set.of("x-amz-checksum-xxhash64"))).isNull();
    }

    @ParameterizedTest
    @CsvSource({"CRC32,true", "SHA256,true", "crc32,false", "Sha256,false", "CRC64NVME,false"})
    void algorithmsOfUploadsAreKeptAsStoresSpellThem(String algorithm, boolean isKept) {
        Headers headers = Headers.builder().add("x-amz-checksum-algorithm", algorithm).build();
        assertThat(PutHeaders.tryKeepUpload(headers) != null).isEqualTo(isKept);
    }

    @Test
    void metadataIsCountedInBytes() {
        assertThat(isKept("x-amz-meta-a", "a".repeat(2036))).isTrue();
        assertThat(isKept("x-amz-meta-a", "ä".repeat(1018))).isTrue();
        assertThat(isKept("x-amz-meta-a", "ä".repeat(1019))).isFalse();
    }

    /** Stores take 8 KiB of headers, those of a signature among them. */
    @Test
    void longHeadersGoToTheStore() {
        assertThat(isKept("content-disposition", "a".repeat(4000))).isTrue();
        assertThat(isKept("content-disposition", "a".repeat(4096))).isFalse();
    }
}
