package io.railhead.cli;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.TryCatchBlock;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.railhead.protocol.message.SigningKey;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The module table of the design, held over all of Railhead's classes. */
@AnalyzeClasses(packages = "io.railhead", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String OS = "io.railhead.os..";
    private static final String PROTOCOL = "io.railhead.protocol..";
    private static final String CACHE = "io.railhead.cache..";
    private static final String RDMA = "io.railhead.rdma..";
    private static final String BACKEND = "io.railhead.backend..";
    private static final String CLUSTER = "io.railhead.cluster..";
    private static final String JGROUPS = "org.jgroups..";
    private static final String GATEWAY = "io.railhead.gateway..";
    private static final String CLIENT = "io.railhead.client..";
    private static final String CLI = "io.railhead.cli..";
    private static final String AWS = "software.amazon..";
    private static final String VERTX = "io.vertx..";
    private static final String NETTY = "io.netty..";
    private static final String CAFFEINE = "com.github.benmanes.caffeine..";
    private static final String JACKSON = "com.fasterxml.jackson..";
    private static final String PROMETHEUS = "io.prometheus..";
    private static final String DISNI = "com.ibm.disni..";

    @ArchTest
    static final ArchRule NATIVE_KNOWS_THE_JDK_AND_DISNI = noClasses().that()
            .resideInAPackage(OS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(PROTOCOL, CACHE, RDMA, BACKEND, GATEWAY, CLIENT,
                    CLI, AWS, VERTX, NETTY, CAFFEINE, JACKSON, PROMETHEUS);

    @ArchTest
    static final ArchRule THE_PROTOCOL_KNOWS_THE_JDK_ALONE = classes().that()
            .resideInAPackage(PROTOCOL)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(PROTOCOL, "java..", "javax.crypto..", "org.jspecify..");

    @ArchTest
    static final ArchRule THE_CACHE_KNOWS_NATIVE_AND_CAFFEINE = noClasses().that()
            .resideInAPackage(CACHE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(PROTOCOL, RDMA, BACKEND, CLUSTER,
                    GATEWAY, CLIENT, CLI, AWS, VERTX, NETTY, JACKSON, PROMETHEUS, DISNI);

    @ArchTest
    static final ArchRule FABRICS_KNOW_NO_HTTP_SERVER_AND_NO_STORE = noClasses().that()
            .resideInAPackage(RDMA)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(BACKEND,
                    GATEWAY, CLIENT, CLI, AWS, VERTX, CAFFEINE, JACKSON, PROMETHEUS,
                    "io.netty.handler.codec.http..");

    @ArchTest
    static final ArchRule FABRICS_KNOW_ONLY_THE_LEASES_OF_THE_CACHE = noClasses().that()
            .resideInAPackage(RDMA)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.railhead.cache");

    @ArchTest
    static final ArchRule CONNECTORS_KNOW_NO_CACHE = noClasses().that()
            .resideInAPackage(BACKEND)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(OS, CACHE, RDMA, GATEWAY, CLIENT, CLI, VERTX, CAFFEINE, JACKSON,
                    PROMETHEUS, DISNI);

    /** Requests to stores are signed with the key that sessions' signatures are made with. */
    @ArchTest
    static final ArchRule CONNECTORS_KNOW_THE_SIGNING_KEY_ALONE_OF_THE_PROTOCOL = noClasses().that()
            .resideInAPackage(BACKEND)
            .should()
            .dependOnClassesThat(resideInAPackage(PROTOCOL)
                    .and(not(belongToAnyOf(SigningKey.class))));

    @ArchTest
    static final ArchRule THE_CLUSTER_KNOWS_JGROUPS_AND_THE_RULE_OF_OWNERSHIP = classes().that()
            .resideInAPackage(CLUSTER)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(CLUSTER, "io.railhead.protocol.placement", JGROUPS, "java..",
                    "javax.net..", "org.slf4j..", "org.jspecify..");

    /** A gateway without a cluster loads none of it. */
    @ArchTest
    static final ArchRule ONE_CLASS_KNOWS_JGROUPS = noClasses().that()
            .resideOutsideOfPackage(JGROUPS)
            .and()
            .haveNameNotMatching(".*\\.JGroupsLink.*")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(JGROUPS);

    @ArchTest
    static final ArchRule THE_GATEWAY_KNOWS_NO_CLIENT = noClasses().that()
            .resideInAPackage(GATEWAY)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CLIENT, CLI, DISNI);

    @ArchTest
    static final ArchRule THE_CLIENT_KNOWS_NO_SERVER = noClasses().that()
            .resideInAPackage(CLIENT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CACHE, RDMA, BACKEND, GATEWAY, CLI, VERTX,
                    NETTY, "org.jctools..", CAFFEINE, JACKSON, PROMETHEUS);

    @ArchTest
    static final ArchRule NATIVE_CODE_LIVES_IN_NATIVE = noClasses().that()
            .resideOutsideOfPackage(OS)
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Linker.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(SymbolLookup.class);

    @ArchTest
    static final ArchRule NOBODY_USES_REFLECTION_TO_BREAK_IN = noClasses().should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("sun.misc.Unsafe");

    /** Somebody may set the wall clock by an hour: only signatures and logs look at it. */
    @ArchTest
    static final ArchRule FRESHNESS_AND_DEADLINES_GO_BY_THE_MONOTONIC_CLOCK = noClasses().that()
            .resideInAnyPackage(CACHE, RDMA, CLUSTER, "io.railhead.gateway.freshness..",
                    "io.railhead.gateway.authorization..", "io.railhead.gateway.delivery..")
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Clock.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Instant.class)
            .orShould()
            .callMethod(System.class, "currentTimeMillis");

    /**
     * Records hold data, as many parts as it has; whatever does something has few collaborators.
     */
    @ArchTest
    static final ArchRule NOTHING_TAKES_MORE_THAN_SEVEN_PARAMETERS = codeUnits().that()
            .areDeclaredInClassesThat()
            .areNotAssignableTo(Record.class)
            .should(new ArchCondition<>("take at most seven parameters") {
                @Override
                public void check(JavaCodeUnit unit, ConditionEvents events) {
                    int taken = unit.getRawParameterTypes().size();
                    if (taken > 7 && !unit.getName().startsWith("lambda$")) {
                        events.add(SimpleConditionEvent.violated(unit,
                                unit.getFullName() + " takes " + taken));
                    }
                }
            });

    /**
     * What a missing class or a full heap ends is ended in order, too: a peer is answered, a timer
     * runs again, memory is given back.
     */
    @ArchTest
    static final ArchRule WHOEVER_CATCHES_EXCEPTIONS_CATCHES_ERRORS = codeUnits()
            .should(new ArchCondition<>("catch Error with RuntimeException") {
                @Override
                public void check(JavaCodeUnit unit, ConditionEvents events) {
                    for (TryCatchBlock block : unit.getTryCatchBlocks()) {
                        List<String> caught = block.getCaughtThrowables()
                                .stream()
                                .map(JavaClass::getName)
                                .toList();
                        if (caught.contains(RuntimeException.class.getName())
                                && !caught.contains(Error.class.getName())
                                && !caught.contains(LinkageError.class.getName())) {
                            events.add(SimpleConditionEvent.violated(unit,
                                    unit.getFullName() + " catches " + caught));
                        }
                    }
                }
            });

    /** A reader who meets a simple name need not ask of which package it is. */
    @ArchTest
    static void oneNameMeansOneClass(JavaClasses classes) {
        Map<String, List<String>> named = classes.stream()
                .filter(JavaClass::isTopLevelClass)
                .filter(each -> !each.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getSimpleName,
                        Collectors.mapping(JavaClass::getName, Collectors.toList())));
        named.values().removeIf(each -> each.size() == 1);
        assertThat(named).isEmpty();
    }
}
