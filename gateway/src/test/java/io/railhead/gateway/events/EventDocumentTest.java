package io.railhead.gateway.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.events.EventDocument.Change;
import io.railhead.gateway.events.EventDocument.Changes;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventDocumentTest {
    static final String AWS = """
            {"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"us-west-2",
             "eventTime":"1970-01-01T00:00:00.000Z","eventName":"ObjectCreated:Put",
             "userIdentity":{"principalId":"AIDAJDPLRKLG7UEXAMPLE"},
             "requestParameters":{"sourceIPAddress":"172.16.0.1"},
             "responseElements":{"x-amz-request-id":"C3D13FE58DE4C810",
              "x-amz-id-2":"FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S/JRWeUWerMUE5JgHvANOjpD"},
             "s3":{"s3SchemaVersion":"1.0","configurationId":"testConfigRule",
              "bucket":{"name":"held","ownerIdentity":{"principalId":"A3NL1KOZZKExample"},
               "arn":"arn:aws:s3:::held"},
              "object":{"key":"red+flower%2B1.jpg","size":1024,
               "eTag":"d41d8cd98f00b204e9800998ecf8427e",
               "versionId":"096fKKXTRTtl3on89fVO.nfljtsv6qko","sequencer":"0055AED6DCD90281E5"}}}]}
            """;
    static final String MINIO = """
            {"EventName":"s3:ObjectCreated:Put","Key":"held/a dir/key.bin","Records":[
             {"eventVersion":"2.0","eventSource":"minio:s3","awsRegion":"",
             "eventTime":"2024-05-21T16:21:34.412Z","eventName":"s3:ObjectCreated:Put",
             "userIdentity":{"principalId":"minioadmin"},
             "requestParameters":{"principalId":"minioadmin","region":"","sourceIPAddress":"10.0.0.7"},
             "responseElements":{"x-amz-id-2":"dd9025bab4ad464b049177c95eb6ebf374d3b3fd1af9251148b658df7ac2e3e8",
              "x-amz-request-id":"17D18DD1C7E8A1F4","x-minio-deployment-id":"6faeded5",
              "x-minio-origin-endpoint":"http://10.0.0.2:9000"},
             "s3":{"s3SchemaVersion":"1.0","configurationId":"Config",
              "bucket":{"name":"held","ownerIdentity":{"principalId":"minioadmin"},
               "arn":"arn:aws:s3:::held"},
              "object":{"key":"a+dir%2Fkey.bin","size":65536,
               "eTag":"fcd6bcb56c1689fcef28b57c22475bad","contentType":"application/octet-stream",
               "userMetadata":{"content-type":"application/octet-stream"},
               "sequencer":"17D18DD1C8F33D63"}},
             "source":{"host":"10.0.0.7","port":"","userAgent":"MinIO (linux; amd64)"}}]}
            """;
    static final String CEPH = """
            {"Records":[{"eventVersion":"2.2","eventSource":"ceph:s3","awsRegion":"default",
             "eventTime":"2023-11-22T13:45:06.780771Z","eventName":"ObjectRemoved:Delete",
             "userIdentity":{"principalId":"tester"},"requestParameters":{"sourceIPAddress":""},
             "responseElements":{"x-amz-request-id":"503a4c37-85eb-47cd-8681-2817e80b4281.5330.903595",
              "x-amz-id-2":"14d2-zone1-zonegroup1"},
             "s3":{"s3SchemaVersion":"1.0","configurationId":"mynotif1",
              "bucket":{"name":"held","ownerIdentity":{"principalId":"tester"},
               "arn":"arn:aws:s3:zonegroup1::held","id":"503a4c37-85eb-47cd-8681-2817e80b4281.5332.38"},
              "object":{"key":"100%+of it.bin","size":0,"eTag":"","versionId":"",
               "sequencer":"F7E6D75DC742D108","metadata":[],"tags":[]}},
             "eventId":"","opaqueData":"me@example.com"}]}
            """;
    static final String TEST_EVENT = """
            {"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2014-10-13T15:57:02.089Z",
             "Bucket":"held","RequestId":"5582815E1AEA5ADF","HostId":"8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE"}
            """;

    static String sns(String type, String message) {
        return new JsonObject().put("Type", type)
                .put("MessageId", "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324")
                .put("Token", "2336412f37")
                .put("TopicArn", "arn:aws:sns:us-west-2:123456789012:MyTopic")
                .put("Subject", "Amazon S3 Notification")
                .put("Message", message)
                .put("SubscribeURL", "https://sns.example/?Action=ConfirmSubscription")
                .put("Timestamp", "2012-05-02T00:54:06.655Z")
                .encode();
    }

    private static EventDocument parse(String json) throws Exception {
        return EventDocument.parse(json.getBytes(UTF_8));
    }

    private static Changes change(String bucket, Set<String> keys, String versionId) {
        return new Changes(List.of(new Change(bucket, keys, versionId)), 0);
    }

    @Test
    void eachSendersChangesAreUnderstood() throws Exception {
        Changes aws = new Changes(
                List.of(new Change("held", Set.of("red+flower%2B1.jpg", "red flower+1.jpg"),
                        "096fKKXTRTtl3on89fVO.nfljtsv6qko")),
                0);
        assertThat(parse(AWS)).isEqualTo(aws);
        assertThat(parse(sns("Notification", AWS))).isEqualTo(aws);
        assertThat(parse(MINIO)).isEqualTo(new Changes(
                List.of(new Change("held", Set.of("a+dir%2Fkey.bin", "a dir/key.bin"), null)), 0));
        assertThat(parse(CEPH)).isEqualTo(
                new Changes(List.of(new Change("held", Set.of("100%+of it.bin"), null)), 0));
        assertThat(parse("{\"Records\":[]}")).isEqualTo(new Changes(List.of(), 0));
        assertThat(parse(AWS.replace("096fKKXTRTtl3on89fVO.nfljtsv6qko", "v2")
                .replace("red+flower%2B1.jpg", "plain"))).isEqualTo(
                        change("held", Set.of("plain"), "v2"));
    }

    @Test
    void whatIsNoChangeIsTold() throws Exception {
        assertThat(parse(TEST_EVENT)).isEqualTo(new EventDocument.Test());
        assertThat(parse(sns("Notification", TEST_EVENT))).isEqualTo(new EventDocument.Test());
        assertThat(parse(sns("SubscriptionConfirmation", "You have chosen"))).isEqualTo(
                new EventDocument.Subscription("https://sns.example/?Action=ConfirmSubscription"));
        assertThat(parse(MINIO.replace("ObjectCreated:Put", "ObjectAccessed:Get")))
                .isEqualTo(new Changes(List.of(), 1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "``                          | is not a JSON object",
            "[]                          | is not a JSON object",
            "{\"Records\":               | is not JSON",
            "{}                          | Records is missing",
            "{\"Records\":{}}            | Records is missing or not a list",
            "{\"Records\":[1]}           | Records[0].s3.bucket.name is missing",
            "{\"Records\":[{\"s3\":{\"bucket\":{\"name\":1}}}]} | Records[0].s3.bucket.name",
            "{\"Records\":[{\"s3\":{\"bucket\":{\"name\":\"b\"},\"object\":{}}}]} | Records[0].s3.object.key",
            "{\"Type\":\"Notification\"} | Message is missing",
            "{\"Type\":\"Notification\",\"Message\":\"x\"} | is not JSON",
    })
    void theFaultIsNamed(String json, String fault) {
        assertThatThrownBy(() -> parse(json)).isInstanceOf(EventDocument.MalformedException.class)
                .hasMessageContaining(fault);
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void whateverComesIsAnEventOrMalformed(long seed) {
        Random random = new Random(seed);
        List<String> samples = List.of(AWS, MINIO, CEPH, TEST_EVENT, sns("Notification", AWS));
        for (int round = 0; round < 2000; round++) {
            byte[] body = samples.get(random.nextInt(samples.size())).getBytes(UTF_8);
            for (int i = random.nextInt(4); i >= 0; i--) {
                body[random.nextInt(body.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(EventDocument.parse(body)).isNotNull();
            } catch (EventDocument.MalformedException e) {
                assertThat(e.getMessage()).as("seed %d", seed).isNotEmpty();
            }
        }
    }
}
