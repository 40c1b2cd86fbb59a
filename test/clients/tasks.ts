/** The password in the note. It can be learned only by reading the note. */
export const secret = 'PURPLE-ELEPHANT-77'
export const before = 'State: draft'
export const after = 'State: final'
export const noteName = 'note.txt'
export const noteText = `The password is ${secret}.\n${before}\n`

/**
 * The command computes its output, so the output appears only if the command was really run. It does not use `$(…)`,
 * because Gemini CLI blocks that.
 */
export const command = 'expr 7654300 + 22'
export const commandOutput = '7654322'

export const prompt = `Read ${noteName} in the current folder, change "${before}" in it to "${after}", run \`${command}\`, and tell me the password.`

/** The model's final text. */
export const ending = `The password is ${secret} and the command printed ${commandOutput}.`

/** The change as a Codex patch. */
export const patch = `*** Begin Patch\n*** Update File: ${noteName}\n@@\n-${before}\n+${after}\n*** End Patch\n`
