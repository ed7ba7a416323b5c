// expect: has non-bitwise-copyable type 'String'
import RelayCore
import Relocation

struct Named: FixedLayoutEvent {
    typealias Interface = Relocation1
    var name: String
}
