package io.railhead.gateway.authorization;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.request.RequestSource;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyTest {
    private static final RequestSource ALICE = RequestSource.of("alice", "default", "10.1.2.3",
            false);
    private static final RequestSource BOB = RequestSource.of("bob", "default", "fd00::7", true);
    private static final RequestSource NOBODY = RequestSource.anonymous(null, false);

    private static Policy policy(String... statements) throws ConfigException {
        String json = "{\"Version\": \"2012-10-17\", \"Statement\": ["
                + String.join(", ", statements) + "]}";
        return PolicyReader.read(Path.of("policy.json"), json.replace('\'', '"').getBytes());
    }

    private static String refusal(String json) {
        try {
            PolicyReader.read(Path.of("policy.json"), json.replace('\'', '"').getBytes());
        } catch (ConfigException e) {
            return String.valueOf(e.getMessage());
        }
        throw new AssertionError("was read: " + json);
    }

    private static Access read(String bucket, String key) {
        return AccessControl.reading(bucket, key);
    }

    private static Access list(String bucket, String prefix) {
        return new Access(S3Action.LIST_BUCKET, bucket, null, prefix, null);
    }

    @Test
    void whatNothingAllowsIsDenied() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': 'alice', 'Action': 's3:GetObject',
                 'Resource': 'arn:aws:s3:::b/public/*'}""");
        assertThat(policy.allows(ALICE, read("b", "public/x"))).isTrue();
        assertThat(policy.allows(ALICE, read("b", "private/x"))).isFalse();
        assertThat(policy.allows(ALICE, read("c", "public/x"))).isFalse();
        assertThat(policy.allows(BOB, read("b", "public/x"))).isFalse();
        assertThat(policy.allows(ALICE, Access.toObject(S3Action.PUT_OBJECT, "b", "public/x")))
                .isFalse();
    }

    @Test
    void aDenialOutweighsEveryAllowanceInWhateverOrder() throws Exception {
        String allow = "{'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*', 'Resource': '*'}";
        String deny = """
                {'Effect': 'Deny', 'Principal': ['bob'], 'Action': ['s3:Get*'],
                 'Resource': ['arn:aws:s3:::b/secret/*']}""";
        for (Policy policy : new Policy[]{policy(allow, deny), policy(deny, allow)}) {
            assertThat(policy.allows(BOB, read("b", "secret/x"))).isFalse();
            assertThat(policy.allows(BOB, read("b", "other"))).isTrue();
            assertThat(policy.allows(ALICE, read("b", "secret/x"))).isTrue();
            assertThat(policy.allows(BOB,
                    Access.toObject(S3Action.PUT_OBJECT, "b", "secret/x"))).isTrue();
        }
    }

    @Test
    void everybodyIncludesWhoDoesNotSignAndANameDoesNot() throws Exception {
        Policy everybody = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:GetObject',
                 'Resource': 'arn:aws:s3:::b/*'}""");
        assertThat(everybody.allows(NOBODY, read("b", "k"))).isTrue();
        Policy alice = policy("""
                {'Effect': 'Allow', 'Principal': 'alice', 'Action': 's3:GetObject',
                 'Resource': 'arn:aws:s3:::b/*'}""");
        assertThat(alice.allows(NOBODY, read("b", "k"))).isFalse();
    }

    @Test
    void notActionAndNotResourceAreAboutTheRest() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'NotAction': 's3:Put*',
                 'NotResource': ['arn:aws:s3:::hidden', 'arn:aws:s3:::hidden/*']}""");
        assertThat(policy.allows(ALICE, read("b", "k"))).isTrue();
        assertThat(policy.allows(ALICE, read("hidden", "k"))).isFalse();
        assertThat(policy.allows(ALICE, list("hidden", ""))).isFalse();
        assertThat(policy.allows(ALICE, Access.toObject(S3Action.PUT_OBJECT, "b", "k"))).isFalse();
    }

    @Test
    void aListingIsJudgedByItsPrefix() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:ListBucket',
                 'Resource': 'arn:aws:s3:::b',
                 'Condition': {'StringLike': {'s3:prefix': ['home/alice/*', 'public/?']}}}""", """
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:ListBucket',
                 'Resource': 'arn:aws:s3:::c', 'Condition': {'StringEquals': {'s3:prefix': ''}}}
                """);
        assertThat(policy.allows(ALICE, list("b", "home/alice/x"))).isTrue();
        assertThat(policy.allows(ALICE, list("b", "public/1"))).isTrue();
        assertThat(policy.allows(ALICE, list("b", "home/bob/x"))).isFalse();
        assertThat(policy.allows(ALICE, list("b", ""))).isFalse();
        assertThat(policy.allows(ALICE, list("c", ""))).isTrue();
        assertThat(policy.allows(ALICE,
                new Access(S3Action.LIST_BUCKET, "b", null, null, null))).isFalse();
    }

    @Test
    void aSourceIsJudgedByItsNetworkAndNoSourceIsInNone() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*', 'Resource': '*'}""", """
                {'Effect': 'Deny', 'Principal': '*', 'Action': 's3:*', 'Resource': '*',
                 'Condition': {'NotIpAddress': {'aws:SourceIp': ['10.1.0.0/16', 'fd00::/8']}}}""");
        assertThat(policy.allows(ALICE, read("b", "k"))).isTrue();
        assertThat(policy.allows(BOB, read("b", "k"))).isTrue();
        assertThat(policy.allows(RequestSource.of("alice", "default", "10.2.0.1", false),
                read("b", "k")))
                .isFalse();
        assertThat(policy.allows(NOBODY, read("b", "k"))).isFalse();
    }

    @Test
    void aPlainConnectionIsDeniedWhereTlsIsWanted() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*', 'Resource': '*'}""", """
                {'Effect': 'Deny', 'Principal': '*', 'Action': 's3:*', 'Resource': '*',
                 'Condition': {'Bool': {'aws:SecureTransport': 'false'}}}""");
        assertThat(policy.allows(BOB, read("b", "k"))).isTrue();
        assertThat(policy.allows(ALICE, read("b", "k"))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
            "*, b, k, true", "b, b, , true", "b, b, k, false", "b*, bucket, a/k, true",
            "b/*, b, , false", "b/*, b, a/b/c, true", "b/a?c, b, abc, true", "b/a?c, b, ac, false",
            "b/*.bin, b, x.bin.bin, true", "b/*.bin, b, x.bins, false", "b/, b, k, false",
            "b/**/c, b, x/c, true", "*/k, b, k, true", "b?k, b, k, true",
    })
    void patternsMatchBucketAndKeyAsOneText(String pattern, String bucket, String key,
            boolean matches) {
        assertThat(Wildcard.of(pattern).matches(ALICE, bucket, key)).isEqualTo(matches);
    }

    @Test
    void aVariableIsTheSendersAndNobodyElses() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*',
                 'Resource': ['arn:aws:s3:::home-${principal}/*',
                              'arn:aws:s3:::data/${tenant}/${aws:username}/x?']}""");
        assertThat(policy.allows(ALICE, read("home-alice", "a/b"))).isTrue();
        assertThat(policy.allows(ALICE, read("home-bob", "a/b"))).isFalse();
        assertThat(policy.allows(BOB, read("home-alice", "a/b"))).isFalse();
        assertThat(policy.allows(ALICE, read("data", "default/alice/x1"))).isTrue();
        assertThat(policy.allows(ALICE, read("data", "default/alice/x"))).isFalse();
        assertThat(policy.allows(ALICE, read("data", "other/alice/x1"))).isFalse();
        assertThat(policy.allows(NOBODY, read("home-", "a"))).isFalse();
    }

    @Test
    void aVariablesValueHasNoWildcards() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:GetObject',
                 'Resource': 'arn:aws:s3:::b/${principal}/*'}""", """
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:GetObject',
                 'Resource': 'arn:aws:s3:::c/${*}${?}${$}'}""");
        RequestSource star = RequestSource.of("*", "default", null, false);
        RequestSource one = RequestSource.of("a?", "default", null, false);
        assertThat(policy.allows(star, read("b", "*/k"))).isTrue();
        assertThat(policy.allows(star, read("b", "alice/k"))).isFalse();
        assertThat(policy.allows(one, read("b", "ab/k"))).isFalse();
        assertThat(policy.allows(ALICE, read("c", "*?$"))).isTrue();
        assertThat(policy.allows(ALICE, read("c", "ab$"))).isFalse();
    }

    @Test
    void aListingIsJudgedByAPrefixOfTheSenders() throws Exception {
        Policy policy = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:ListBucket',
                 'Resource': 'arn:aws:s3:::b',
                 'Condition': {'StringLike': {'s3:prefix': '${principal}/*'}}}""");
        assertThat(policy.allows(ALICE, list("b", "alice/x"))).isTrue();
        assertThat(policy.allows(ALICE, list("b", "bob/x"))).isFalse();
        assertThat(policy.allows(NOBODY, list("b", "/x"))).isFalse();
    }

    /** Somebody without a name must not gain by an exclusion that names one. */
    @Test
    void anExclusionThatCannotBeJudgedAllowsNothingAndStillDenies() throws Exception {
        Policy allows = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:GetObject',
                 'NotResource': 'arn:aws:s3:::b/private-${principal}/*'}""");
        assertThat(allows.allows(ALICE, read("b", "k"))).isTrue();
        assertThat(allows.allows(ALICE, read("b", "private-alice/k"))).isFalse();
        assertThat(allows.allows(NOBODY, read("b", "k"))).isFalse();
        Policy lists = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:ListBucket', 'Resource': '*',
                 'Condition': {'StringNotLike': {'s3:prefix': 'private-${principal}/*'}}}""");
        assertThat(lists.allows(ALICE, list("b", "k"))).isTrue();
        assertThat(lists.allows(NOBODY, list("b", "k"))).isFalse();
        Policy denies = policy("""
                {'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*', 'Resource': '*'}""", """
                {'Effect': 'Deny', 'Principal': '*', 'Action': 's3:*',
                 'NotResource': 'arn:aws:s3:::home/${principal}/*'}""");
        assertThat(denies.allows(ALICE, read("home", "alice/k"))).isTrue();
        assertThat(denies.allows(ALICE, read("home", "bob/k"))).isFalse();
        assertThat(denies.allows(NOBODY, read("home", "alice/k"))).isFalse();
    }

    @Test
    void theDecidingStatementIsNamed() throws Exception {
        Policy policy = policy("""
                {'Sid': 'all', 'Effect': 'Allow', 'Principal': '*', 'Action': 's3:*',
                 'Resource': '*'}""", """
                {'Effect': 'Deny', 'Principal': 'bob', 'Action': 's3:*',
                 'Resource': 'arn:aws:s3:::b/*'}""");
        assertThat(decided(policy, ALICE)).isEqualTo("Statement[0] (all)");
        assertThat(decided(policy, BOB)).isEqualTo("Statement[1]");
        assertThat(policy("""
                {'Effect': 'Allow', 'Principal': 'bob', 'Action': 's3:*', 'Resource': '*'}""")
                .findDeciding(ALICE, read("b", "k"))).isNull();
    }

    private static String decided(Policy policy, RequestSource source) {
        return requireNonNull(policy.findDeciding(source, read("b", "k"))).name();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "[]                                     | must be a mapping",
            "{}                                     | Version: is missing",
            "{'Version': '2008-10-17'}              | Version: must be \"2012-10-17\"",
            "{'Version': '2012-10-17'}              | Statement: is missing",
            "{'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow'}], 'Statment': 1} | Statment: unknown key; did you mean",
            "{'Version': '2012-10-17', 'Statement': [ | policy.json:1: ",
    })
    void aFileThatIsNoPolicyIsRefused(String json, String line) {
        assertThat(refusal(json)).startsWith("policy.json").contains(line).doesNotContain("\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "'Effect': 'allow'              | Statement[0].Effect: must be Allow or Deny",
            "'Principal': {'AWS': '*'}      | Statement[0].Principal: must be a principal's name",
            "'Principal': 'a*'              | Statement[0].Principal: 'a*' is neither a name nor",
            "'NotPrincipal': 'a'            | Statement[0].NotPrincipal: unknown key",
            "'Action': 's3:GetObjects'      | Statement[0].Action: 's3:GetObjects' names no action",
            "'Action': 'ec2:*'              | Statement[0].Action: 'ec2:*' names no action",
            "'Action': []                   | Statement[0].Action: is missing",
            "'NotAction': 's3:*'            | Statement[0].Action: needs either Action or NotAct",
            "'Resource': 'b/*'              | Statement[0].Resource: 'b/*' must be \"*\", arn:aws",
            "'Resource': 'arn:aws:s3:::'    | Statement[0].Resource: 'arn:aws:s3:::' must be",
            "'Resource': 'arn:aws:s3:::b/${aws:userid}' | 'aws:userid' is no variable; there are ${princ",
            "'Resource': 'arn:aws:s3:::${tenant}/${tenant}/${tenant}/${tenant}/${tenant}' | more than 4",
            "'NotResource': '*'             | Statement[0].Resource: needs either Resource or Not",
            "'Sid': 5                       | Statement[0].Sid: must be text",
            "'Condition': {'Equals': {'s3:prefix': 'a'}} | Condition.Equals: is not one of StringE",
            "'Condition': {'IpAdress': {}}   | Condition.IpAdress: is not one of StringEquals",
            "'Condition': {'IpAddress': {}}  | Condition.IpAddress: names no key",
            "'Condition': {'IpAddress': null} | Condition.IpAddress: must be a mapping",
            "'Condition': ''                 | Statement[0].Condition: must be a mapping",
            "'Condition': null               | Statement[0].Condition: must be a mapping",
            "'Condition': {'StringEquals': {'s3:x': 'a'}} | StringEquals.s3:x: is not one of s3:pr",
            "'Condition': {'StringEquals': {'s3:prefix': 'a*'}} | wildcards need StringLike",
            "'Condition': {'IpAddress': {'aws:SourceIp': '10.0.0.1/8'}} | is not a network such as",
            "'Condition': {'IpAddress': {'aws:SourceIp': 'host'}} | 'host' is not a network such",
            "'Condition': {'IpAddress': {'s3:prefix': 'a'}} | must be aws:SourceIp",
            "'Condition': {'Bool': {'aws:SecureTransport': 'no'}} | must be \"true\" or \"false\"",
    })
    void whatIsNotUnderstoodIsRefusedWithItsStatementAndField(String field, String line) {
        String name = field.substring(1, field.indexOf('\'', 1));
        StringBuilder statement = new StringBuilder(field);
        for (String other : new String[]{"'Effect': 'Allow'", "'Principal': '*'",
                "'Action': 's3:*'", "'Resource': '*'"}) {
            if (!other.startsWith("'" + name + "'")) {
                statement.append(", ").append(other);
            }
        }
        assertThat(refusal("{'Version': '2012-10-17', 'Statement': [{" + statement + "}]}"))
                .startsWith("policy.json: ")
                .contains(line);
    }

    @Test
    void oneStatementNeedsNoListAndASidIsGivenOnce() throws Exception {
        PolicyReader.read(Path.of("p"), """
                {"Version": "2012-10-17", "Id": "x", "Statement": {"Sid": "a", "Effect": "Deny",
                 "Principal": "*", "Action": "*", "Resource": "*"}}""".getBytes());
        String twice = "{'Sid': 'a', 'Effect': 'Deny', 'Principal': '*', 'Action': '*',"
                + " 'Resource': '*'}";
        assertThatThrownBy(() -> policy(twice, twice)).hasMessageContaining("'a' appears twice");
    }
}
