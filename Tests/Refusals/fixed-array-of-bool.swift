// expect: type 'Bool' does not conform to protocol 'FixedLayoutNumber'
import RelayCore
let flags = FixedArray<8, Bool>(repeating: false)
