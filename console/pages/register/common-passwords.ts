/** The most common leaked passwords with at least eight characters. */
const common = new Set(
  (
    'password 12345678 123456789 1234567890 password1 password123 qwertyuiop qwerty123 1q2w3e4r 1q2w3e4r5t iloveyou ' +
    'sunshine princess football baseball superman trustno1 letmein1 welcome1 admin123 administrator abcd1234 ' +
    'abc12345 11111111 00000000 88888888 66666666 87654321 987654321 asdfghjkl zxcvbnm1 passw0rd p@ssw0rd starwars ' +
    'whatever dragon123 monkey123 charlie1 computer michelle jennifer woaini1314 a1234567 aa123456 1qaz2wsx changeme'
  ).split(' '),
)

/** True for one of the passwords that attackers guess first. Such a password causes a hint but is not refused. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase())
}
