package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Caller;
import io.railhead.backend.testing.MinioProcess;
import io.railhead.backend.testing.S3ProxyProcess;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Every clause of fidelity that a store of today can be asked about, directly and through. */
class RealStoreFidelityIT {
    private static final byte[] BODY = "123456789".getBytes(StandardCharsets.US_ASCII);

    @Test
    void overS3proxyTheSameIsSaid() {
        try (S3ProxyProcess store = new S3ProxyProcess(Path.of("target/s3proxy/s3proxy.jar"))) {
            try (RealStoreFidelity same = over(store.endpoint(), store.credential())) {
                objects(same);
                errors(same);
            }
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MINIO_BIN", matches = ".+")
    void overMinioTheSameIsSaid() {
        try (MinioProcess store = new MinioProcess(Path.of(System.getenv("MINIO_BIN")))) {
            try (RealStoreFidelity same = over(store.endpoint(), store.credential())) {
                objects(same);
                errors(same);
                checksums(same);
                settings(same);
                locks(same);
            }
        }
    }

    private static RealStoreFidelity over(URI store, Caller.Credential known) {
        RealStoreFidelity same = new RealStoreFidelity(store, known);
        same.write("PUT", "/data", new byte[0]);
        return same;
    }

    private static void objects(RealStoreFidelity same) {
        for (String key : List.of("plain", "a%20b%2Bc", "%C3%BC%E2%98%83", "deep/er/x%3Fy%23z",
                "a%252Fb", "q%26a%3Db", "x".repeat(200))) {
            String path = "/data/" + key;
            same.write("PUT", path, BODY, "Content-Type", "text/x; charset=utf-8",
                    "x-amz-meta-one", "a  b", "x-amz-meta-two", "=?UTF-8?Q?=C3=BC?=",
                    "Cache-Control", "max-age=7", "Content-Disposition", "attachment",
                    "Content-Language", "de", "Expires", "Thu, 01 Dec 2044 16:00:00 GMT");
            same.readObject(path);
            same.write("PUT", path + ".copy", new byte[0], "x-amz-copy-source", "/data/" + key);
            same.read("GET", path + ".copy");
            same.presigned("GET", path, new byte[0], 200);
            same.presigned("PUT", path + ".presigned", BODY, 200);
            same.presigned("HEAD", path + ".presigned", new byte[0], 200);
            same.presigned("DELETE", path + ".presigned", new byte[0], 204);
            same.read("GET", path + ".presigned");
        }
        same.read("GET", "/data?list-type=2&prefix=a&encoding-type=url");
        same.read("GET", "/data?list-type=2&max-keys=2&delimiter=%2F");
        same.read("GET", "/data?prefix=%C3%BC");
        same.read("GET", "/data?location");
        conditionalWrites(same);
        byte[] list = "<Delete><Object><Key>plain</Key></Object><Object><Key>q&amp;a=b</Key>"
                .concat("</Object></Delete>")
                .getBytes(StandardCharsets.UTF_8);
        same.write("POST", "/data?delete", list, "Content-MD5", md5(list));
        same.read("GET", "/data/plain");
        same.read("HEAD", "/data/q%26a%3Db");
    }

    private static void conditionalWrites(RealStoreFidelity same) {
        same.write("PUT", "/data/once", BODY, "If-None-Match", "*");
        HttpResponse<byte[]> again = same.through().put("/data/once", BODY, "If-None-Match", "*");
        assertThat(again.statusCode()).isEqualTo(412);
        assertThat(new String(again.body())).contains("<Code>PreconditionFailed</Code>");
        same.readObject("/data/once");
    }

    private static void errors(RealStoreFidelity same) {
        same.read("GET", "/data/absent");
        same.read("HEAD", "/data/absent");
        same.read("GET", "/absent-bucket/key");
        same.read("GET", "/absent-bucket?list-type=2");
        same.read("GET", "/data?uploads");
        same.read("GET", "/data/absent?uploadId=none");
        same.read("GET", "/data/absent?acl");
        same.read("DELETE", "/absent-bucket");
    }

    private static void checksums(RealStoreFidelity same) {
        List<String> sums = List.of("x-amz-checksum-crc32", "y/Q5Jg==", "x-amz-checksum-crc32c",
                "4waSgw==", "x-amz-checksum-crc64nvme", "rosUhgp5mIg=", "x-amz-checksum-sha1",
                "98O8HYCOBHMq32eZZczDTKeuNEE=", "x-amz-checksum-sha256",
                "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
        for (int i = 0; i < sums.size(); i += 2) {
            same.write("PUT", "/data/sum" + i, BODY, sums.get(i), sums.get(i + 1));
            same.readObject("/data/sum" + i);
            assertThat(same.through()
                    .get("/data/sum" + i, "x-amz-checksum-mode", "ENABLED")
                    .headers()
                    .firstValue(sums.get(i))).contains(sums.get(i + 1));
            same.read("GET", "/data/sum" + i + "?attributes", "x-amz-object-attributes",
                    "ETag,Checksum,ObjectSize");
        }
    }

    private static void settings(RealStoreFidelity same) {
        same.write("PUT", "/data/plain", BODY, "x-amz-tagging", "a=b&c=d%20e");
        same.read("GET", "/data/plain?tagging");
        same.readObject("/data/plain");
        same.write("PUT", "/data/plain?tagging", tags("x"));
        same.read("GET", "/data/plain?tagging");
        same.write("DELETE", "/data/plain?tagging", new byte[0]);
        same.read("GET", "/data/plain?tagging");
        same.readObject("/data/plain");
        same.read("GET", "/data/plain?acl");
        same.read("GET", "/data?acl");
        same.write("PUT", "/data?policy", ("{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":"
                + "\"Allow\",\"Principal\":{\"AWS\":[\"*\"]},\"Action\":[\"s3:GetObject\"],"
                + "\"Resource\":[\"arn:aws:s3:::data/*\"]}]}").getBytes(StandardCharsets.UTF_8));
        same.read("GET", "/data?policy");
        assertThat(same.through().anonymous("GET", "/data/plain").statusCode()).isEqualTo(200);
        assertThat(same.through().anonymous("GET", "/data/plain").statusCode()).isEqualTo(200);
        same.write("DELETE", "/data?policy", new byte[0]);
        assertThat(same.through().anonymous("GET", "/data/plain").statusCode()).isEqualTo(403);
        byte[] lifecycle = ("<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status>"
                + "<Filter><Prefix>t/</Prefix></Filter><Expiration><Days>3</Days></Expiration>"
                + "</Rule></LifecycleConfiguration>").getBytes(StandardCharsets.UTF_8);
        same.write("PUT", "/data?lifecycle", lifecycle, "Content-MD5", md5(lifecycle));
        same.read("GET", "/data?lifecycle");
        same.write("PUT", "/data/t/x", BODY);
        same.readObject("/data/t/x");
        same.read("GET", "/data?versioning");
        same.read("GET", "/data?encryption");
        same.read("GET", "/data?cors");
    }

    private static byte[] tags(String value) {
        return ("<Tagging><TagSet><Tag><Key>k</Key><Value>" + value
                + "</Value></Tag></TagSet></Tagging>").getBytes(StandardCharsets.UTF_8);
    }

    private static void locks(RealStoreFidelity same) {
        same.write("PUT", "/locked", new byte[0], "x-amz-bucket-object-lock-enabled", "true");
        same.read("GET", "/locked?object-lock");
        same.read("GET", "/locked?versioning");
        String first = version(same.write("PUT", "/locked/key", BODY, "x-amz-object-lock-mode",
                "GOVERNANCE", "x-amz-object-lock-retain-until-date", "2099-01-01T00:00:00.000Z",
                "Content-MD5", md5(BODY)));
        String second = version(same.write("PUT", "/locked/key", "second".getBytes()));
        same.readObject("/locked/key");
        same.readObject("/locked/key?versionId=" + first);
        same.readObject("/locked/key?versionId=" + second);
        same.read("GET", "/locked?versions");
        same.read("GET", "/locked/key?retention&versionId=" + first);
        byte[] hold = "<LegalHold><Status>ON</Status></LegalHold>".getBytes();
        same.write("PUT", "/locked/key?legal-hold&versionId=" + first, hold, "Content-MD5",
                md5(hold));
        same.read("GET", "/locked/key?legal-hold&versionId=" + first);
        same.readObject("/locked/key?versionId=" + first);
        assertRefused(same.through().delete("/locked/key?versionId=" + first));
        hold = "<LegalHold><Status>OFF</Status></LegalHold>".getBytes();
        same.write("PUT", "/locked/key?legal-hold&versionId=" + first, hold, "Content-MD5",
                md5(hold));
        assertRefused(same.through().delete("/locked/key?versionId=" + first));
        same.write("DELETE", "/locked/key?versionId=" + first, new byte[0],
                "x-amz-bypass-governance-retention", "true");
        same.read("GET", "/locked/key?versionId=" + first);
        same.write("DELETE", "/locked/key", new byte[0]);
        same.read("GET", "/locked/key");
        same.read("HEAD", "/locked/key");
        same.read("GET", "/locked?versions");
    }

    private static void assertRefused(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(new String(answer.body())).isBetween(400, 403);
    }

    private static String version(HttpResponse<byte[]> answer) {
        return answer.headers().firstValue("x-amz-version-id").orElseThrow();
    }

    private static String md5(byte[] document) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("MD5").digest(document));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
