package io.railhead.os.verbs;

import java.io.IOException;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Whether this machine has a device that rdma_cm can use. */
final class VerbsCondition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if ("1".equals(System.getenv("RAILHEAD_REQUIRE_VERBS"))) {
            return ConditionEvaluationResult.enabled("RAILHEAD_REQUIRE_VERBS=1");
        }
        try {
            return VerbsProvider.install().devices().isEmpty()
                    ? ConditionEvaluationResult.disabled("rdma_cm has no device")
                    : ConditionEvaluationResult.enabled("verbs are available");
        } catch (IOException e) {
            return ConditionEvaluationResult.disabled(e.getMessage());
        }
    }
}
