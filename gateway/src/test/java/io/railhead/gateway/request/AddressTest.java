package io.railhead.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressTest {
    private static final List<String> DOMAINS = List.of("example.com", "s3.example.com",
            "s3.rack1");

    private static Address of(String path, String host) {
        return Address.of(path, host, DOMAINS);
    }

    @ParameterizedTest
    @CsvSource({
            "bucket.s3.rack1,              bucket",
            "bucket.s3.rack1:9000,         bucket",
            "BUCKET.S3.Rack1:9000,         bucket",
            "bucket.s3.rack1.,             bucket",
            "bucket.s3.rack1.:9000,        bucket",
            "my.dotted.bucket.s3.rack1,    my.dotted.bucket",
            "bucket.s3.example.com,        bucket",
            "bucket.example.com,           bucket",
            "s3.rack1.s3.rack1,            s3.rack1",
    })
    void aHostBelowADomainNamesTheBucket(String host, String bucket) {
        assertThat(of("/b/a//../k%2F+%20", host))
                .isEqualTo(new Address(bucket, "b/a//../k%2F+%20", "b/a//../k/+ "));
        assertThat(of("/", host)).isEqualTo(new Address(bucket, "", ""));
    }

    @ParameterizedTest
    @CsvSource({"s3.rack1", "s3.rack1:9000", "S3.RACK1", "s3.example.com", "example.com",
            ".s3.rack1", "bucket.s3.rack2", "s3.rack1.evil", "127.0.0.1", "127.0.0.1:9000", "[::1]",
            "[::1]:9000", "[fe80::1%25eth0]:9000", "localhost:9000", "a:b:c", "''", "."})
    void everyOtherHostLeavesItToThePath(String host) {
        assertThat(of("/b/k", host)).isEqualTo(new Address("b", "k", "k"));
        assertThat(of("/", host)).isEqualTo(new Address(null, "", ""));
    }

    @Test
    void withoutAHostOrADomainThePathNamesTheBucket() {
        assertThat(Address.of("/b/k", null, DOMAINS).bucket()).isEqualTo("b");
        assertThat(Address.of("/b/k", "x.s3.rack1", List.of()).bucket()).isEqualTo("b");
    }
}
