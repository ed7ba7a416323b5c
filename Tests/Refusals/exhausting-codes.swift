// expect: switch must be exhaustive
import RelayCore
func advice(_ error: RelayError) -> String {
    switch error.code {
    case .unavailable: "wait";
    case .conflict: "again"
    }
}
